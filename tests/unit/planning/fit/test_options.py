"""Which types, how many, in which quantization."""

from llmservice.catalog.loader import load_catalogue
from llmservice.planning.fit.options import best_only, distinct, options
from llmservice.planning.fit.remedies import has_fp8, rounded_context, small_kv_dtype, smallest_count
from llmservice.planning.fit.verdict import Outcome
from tests.unit.models.models import known
from tests.unit.planning.fit.setups import usual

CATALOGUE = load_catalogue()
SETUP = usual("vllm", 128)
LLAMA_70B = known("meta-llama/Llama-3.3-70B-Instruct")
L4, T4, H100 = (CATALOGUE.accelerator(name) for name in ("L4", "T4", "H100"))


def test_goes_up_to_the_first_number_that_fits() -> None:
    found = list(options(LLAMA_70B, [H100], ["", "online-fp8"], SETUP))
    told = [(each.verdict.setup.quantization, each.verdict.setup.devices, each.verdict.outcome) for each in found]
    assert told == [
        ("", 1, Outcome.DOES_NOT_FIT),
        ("", 2, Outcome.FITS),
        ("online-fp8", 1, Outcome.TIGHT),
        ("online-fp8", 2, Outcome.FITS),
    ]


def test_the_step_is_that_of_each_type() -> None:
    steps = {
        each.accelerator.name: each.verdict.setup.batched_tokens for each in options(LLAMA_70B, [L4, H100], [""], SETUP)
    }
    assert steps == {"L4": 2048, "H100": 8192}


def test_of_each_type_the_best_is_kept() -> None:
    kept = best_only(options(LLAMA_70B, [T4, L4, H100], [""], SETUP))
    told = {each.accelerator.name: (each.verdict.setup.devices, each.verdict.outcome) for each in kept}
    assert told == {"T4": (8, Outcome.DOES_NOT_FIT), "L4": (8, Outcome.TIGHT), "H100": (2, Outcome.FITS)}


def test_a_number_that_cannot_be_is_not_the_best() -> None:
    """Qwen2.5 7B cannot be divided by 8: what four devices lack is what counts."""
    tiny = [each for each in CATALOGUE.accelerators.values() if each.name == "Radeon-Pro-V520"][:1]
    (kept,) = best_only(options(known("Qwen/Qwen2.5-7B-Instruct"), tiny, [""], SETUP))
    assert kept.verdict.setup.devices == 4


def test_types_are_listed_once_by_memory() -> None:
    names = [each.name for each in distinct(CATALOGUE.accelerators.values(), ["cuda"])]
    assert len(names) == len(set(names))
    assert {"H100", "A100-80GB", "A100-40GB", "L40", "L40S", "H100-NVL"} <= set(names)
    assert not {"H100-SXM", "H100-PCIe", "H100-80GB", "L40-48GB", "A100-80GB-SXM", "MI300X"} & set(names)
    memory = [CATALOGUE.accelerator(name).memory_gib for name in names]
    assert memory == sorted(memory)


def test_the_fewest_devices() -> None:
    assert smallest_count(LLAMA_70B, H100, SETUP) == 2
    assert smallest_count(LLAMA_70B, T4, SETUP) == 0
    assert smallest_count(known("Qwen/Qwen2.5-0.5B-Instruct"), T4, SETUP, more_than=2) == 0


def test_eight_bits_of_kv_cache_where_the_hardware_has_them() -> None:
    told = {name: small_kv_dtype(CATALOGUE.accelerator(name), SETUP) for name in ("T4", "L4", "MI300X", "MI210")}
    assert told == {"T4": "", "L4": "fp8", "MI300X": "fp8", "MI210": ""}
    assert small_kv_dtype(L4, usual("tgi", 64)) == "fp8_e4m3fn"
    assert small_kv_dtype(T4, usual("llamacpp", 4)) == "q8_0"
    assert not has_fp8(CATALOGUE.accelerator("Max-1550"))


def test_lengths_are_rounded_down_as_people_write_them() -> None:
    written = [rounded_context(tokens) for tokens in (28_633, 5_432, 999, 99, 123_456, 131_072, 7)]
    assert written == [28_000, 5_400, 990, 99, 123_000, 131_000, 7]
