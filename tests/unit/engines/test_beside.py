"""Options for models that generate nothing, and for what is loaded beside a model."""

import json

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.adapters import Adapter
from llmservice.engines.engine import Draft, Launch, ModelSource
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.models.model_facts import Task
from tests.unit.engines.hub_request import a_request, a_version, option

VLLM, LLAMACPP = ENGINES["vllm"], ENGINES["llamacpp"]
VLLMS = sorted(load_catalogue().engines["vllm"].versions)
BUILDS = sorted(load_catalogue().engines["llamacpp"].versions)
LAW, TAX = Adapter(name="law", path="/models/law"), Adapter(name="tax", path="acme/tax")


def after(launch: Launch, flag: str) -> str | None:
    """The word behind a flag."""
    words = dict(zip(launch.args, (*launch.args[1:], ""), strict=True))
    return words.get(flag)


@pytest.mark.parametrize("version", VLLMS)
@pytest.mark.parametrize(
    ("task", "runner", "convert"),
    [
        (Task.GENERATE, None, None),
        (Task.TRANSCRIBE, None, None),
        (Task.EMBED, "pooling", "embed"),
        (Task.RERANK, "pooling", "classify"),
    ],
)
def test_vllm_pools_where_nothing_is_generated(
    version: str, task: Task, runner: str | None, convert: str | None
) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version), task=task))
    assert (option(launch, "--runner"), option(launch, "--convert")) == (runner, convert)


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(("task", "flag"), [(Task.EMBED, "--embedding"), (Task.RERANK, "--reranking")])
def test_llamacpp_computes_a_whole_prompt_in_one_step(build: str, task: Task, flag: str) -> None:
    launch = LLAMACPP.launch(a_request(a_version("llamacpp", build), task=task, max_model_len=4000))
    assert flag in launch.args
    assert (launch.environment["LLAMA_ARG_BATCH"], launch.environment["LLAMA_ARG_UBATCH"]) == ("4000", "4000")


def test_llamacpp_says_nothing_of_batches_to_a_model_that_generates() -> None:
    launch = LLAMACPP.launch(a_request(a_version("llamacpp")))
    assert not {"LLAMA_ARG_BATCH", "LLAMA_ARG_UBATCH"} & launch.environment.keys()


@pytest.mark.parametrize("version", VLLMS)
def test_vllm_loads_adapters_at_its_start(version: str) -> None:
    launch = VLLM.launch(a_request(a_version("vllm", version), adapters=(LAW, TAX)))
    begin = launch.args.index("--lora-modules")
    assert launch.args[begin + 1 : begin + 4] == ("law=/models/law", "tax=acme/tax", "--enable-lora")
    assert "VLLM_ALLOW_RUNTIME_LORA_UPDATING" not in launch.environment


def test_vllm_has_room_for_adapters_that_come_later() -> None:
    launch = VLLM.launch(a_request(a_version("vllm"), live_adapters=True, adapters=(LAW,)))
    assert "--enable-lora" in launch.args
    assert "--lora-modules" not in launch.args
    assert launch.environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] == "1"


def test_vllm_reads_a_draft_model_from_one_configuration() -> None:
    hub = ModelSource(scheme="hf", repository="acme/draft", revision="v1")
    launch = VLLM.launch(a_request(a_version("vllm"), draft=Draft(source=hub, tokens=3)))
    assert json.loads(option(launch, "--speculative-config") or "") == {
        "model": "acme/draft",
        "revision": "v1",
        "num_speculative_tokens": 3,
    }


@pytest.mark.parametrize(
    ("live", "word"), [(False, "/models/law:1,/models/tax:0"), (True, "/models/law:0,/models/tax:0")]
)
def test_llamacpp_applies_at_its_start_what_does_not_change_live(live: bool, word: str) -> None:
    adapters = (
        Adapter(name="law", path="/models/law", always=True),
        Adapter(name="tax", path="/models/tax"),
    )
    launch = LLAMACPP.launch(a_request(a_version("llamacpp"), adapters=adapters, live_adapters=live))
    assert after(launch, "--lora-scaled") == word
    assert launch.environment.get("LLAMA_ARG_CACHE_PROMPT") == ("0" if live else None)
    assert any("law: 0, tax: 1" in note for note in launch.notes)


def test_llamacpp_asks_a_draft_model_only_where_it_is_told_how() -> None:
    claim = ModelSource(scheme="pvc", path="/models/draft.gguf")
    launch = LLAMACPP.launch(a_request(a_version("llamacpp"), draft=Draft(source=claim)))
    assert (after(launch, "--spec-draft-model"), after(launch, "--spec-draft-n-max")) == ("/models/draft.gguf", "3")
    assert launch.environment["LLAMA_ARG_SPEC_TYPE"] == "draft-simple"


@pytest.mark.parametrize(
    ("file", "word"), [("", "acme/draft"), ("draft-Q4_K_M.gguf", "acme/draft:Q4_K_M"), ("guesses.gguf", None)]
)
def test_llamacpp_finds_a_draft_model_of_the_hub_by_its_quantization(file: str, word: str | None) -> None:
    hub = ModelSource(scheme="hf", repository="acme/draft", file=file)
    request = a_request(a_version("llamacpp"), draft=Draft(source=hub))
    if word is not None:
        assert after(LLAMACPP.launch(request), "--spec-draft-hf") == word
        return
    with pytest.raises(InvalidSpec) as caught:
        LLAMACPP.launch(request)
    assert (caught.value.reason, caught.value.field) == (Reason.UNSUPPORTED_FIELD, "spec.model.draft.file")
