"""What differs between engines: what they reserve, and what they take beside weights and cache."""

from dataclasses import replace

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.overhead import overhead
from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.room import largest_context, room
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome
from tests.unit.models.models import known
from tests.unit.planning.fit.setups import use_of, usual

MIB = 2**20
L4, B200, H100, A100 = (load_catalogue().accelerator(name) for name in ("L4", "B200", "H100", "A100-80GB"))
LLAMA = known("meta-llama/Llama-3.1-8B-Instruct")
VLLM = usual("vllm", 256)
LLAMACPP = usual("llamacpp", 4, "Q4_K_M")
TGI = usual("tgi", 64)


def careful(facts: ModelFacts, setup: Setup) -> float:
    return overhead(facts, setup).careful / GIB


def test_llamacpp_reserves_every_slot_at_the_start() -> None:
    """Four slots of 8192 tokens: 4 GiB of the 22 are reserved, however few are used."""
    found = room(LLAMA, L4, LLAMACPP)
    assert found is not None
    assert (found.needed / GIB, found.request / GIB) == (4.0, 1.0)


def test_slots_that_do_not_fit_are_refused_with_fewer_as_a_way_out() -> None:
    found = check_fit(LLAMA, load_catalogue().accelerator("L4"), replace(LLAMACPP, max_num_seqs=32))
    assert found.outcome is Outcome.DOES_NOT_FIT
    assert found.message.startswith("32 slots of 8192 tokens need 32.0 GiB of KV cache; ")
    assert Remedy(field="maxNumSeqs", value="16") in found.remedies
    assert Remedy(field="kvCacheDtype", value="q8_0", context=7900) in found.remedies


def test_the_buffer_of_a_step_is_what_llamacpp_logs() -> None:
    """Llama 3 8B with 8192 tokens: "CUDA0 compute buffer size = 258.50 MiB"."""
    buffer = overhead(LLAMA, LLAMACPP).optimistic - 0.13 * GIB
    assert buffer / MIB == pytest.approx(258.5, abs=0.01)


def test_llamacpp_gives_devices_whole_layers() -> None:
    one, two = room(LLAMA, L4, LLAMACPP), room(LLAMA, L4, replace(LLAMACPP, devices=2))
    assert one is not None
    assert two is not None
    assert (two.weights, two.request) == (one.weights / 2, one.request / 2)


def test_tgi_works_on_whole_prompts_so_a_longer_context_takes_more_beside_the_cache() -> None:
    longer = replace(TGI, max_model_len=32_768)
    assert careful(LLAMA, longer) > careful(LLAMA, TGI) > careful(LLAMA, replace(TGI, max_model_len=2048))
    assert careful(LLAMA, replace(TGI, max_model_len=2048)) == careful(LLAMA, replace(TGI, max_model_len=4096))


def test_more_sequences_take_memory_from_the_cache() -> None:
    """The sampler's warm-up: 1.9 GiB at 1024 sequences of a vocabulary of 128,256."""
    many = overhead(LLAMA, replace(VLLM, max_num_seqs=1024)).optimistic / GIB
    assert many - 0.13 == pytest.approx(1.86, abs=0.01)


def test_eager_needs_neither_graphs_nor_compilation() -> None:
    assert careful(LLAMA, VLLM) - careful(LLAMA, replace(VLLM, eager=True)) == pytest.approx(1.05)


def test_several_devices_exchange() -> None:
    assert careful(LLAMA, replace(VLLM, devices=2)) - careful(LLAMA, VLLM) == pytest.approx(1.8)


def test_a_mixture_has_a_workspace_and_its_width_is_that_of_the_active_experts() -> None:
    mixtral = known("mistralai/Mixtral-8x7B-Instruct-v0.1")
    step = 2048 * (4 * 4096 + 3 * 2 * 14_336) * 2 / GIB
    assert careful(mixtral, VLLM) == pytest.approx(step + 0.3 + 0.75 + 0.3 + 0.5)


@pytest.mark.parametrize(
    ("engine", "gpu", "tokens"),
    [
        ("vllm", "L4", 2048),
        ("vllm", "A100-80GB", 2048),
        ("vllm", "GB10", 2048),
        ("vllm", "H100", 8192),
        ("tgi", "H100", 4096),
    ],
)
def test_tokens_of_one_step_when_nobody_says(engine: str, gpu: str, tokens: int) -> None:
    assert use_of(engine).usual_step_tokens(load_catalogue().accelerator(gpu)) == tokens


def test_every_engine_says_how_it_uses_memory() -> None:
    uses = {name: engine.capabilities.memory for name, engine in ENGINES.items()}
    shares = {name: use.utilization for name, use in uses.items() if use}
    assert shares == {"vllm": 0.92, "tgi": 0.95, "llamacpp": 1.0, "ollama": 1.0}


def test_the_longest_context_is_never_longer_than_the_models() -> None:
    assert largest_context(LLAMA, B200, VLLM) == 131_072
    assert largest_context(ModelFacts(file_bytes=GIB), B200, VLLM) == 0
    assert largest_context(ModelFacts(), B200, VLLM) == 0


def test_padded_weights_are_in_the_careful_estimate_alone() -> None:
    model = known("openai/gpt-oss-120b")
    hopper, ampere = room(model, H100, replace(VLLM, max_model_len=1)), room(model, A100, VLLM)
    assert hopper is not None
    assert ampere is not None
    assert (hopper.optimistic - hopper.careful) / GIB - (ampere.optimistic - ampere.careful) / GIB == pytest.approx(
        0.0606 * 60.7, abs=0.05
    )
