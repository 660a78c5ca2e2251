"""Verdicts: what is refused, what is only said, and in which words."""

import re
from dataclasses import replace

import pytest

from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.loader import load_catalogue
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.verdict import Outcome
from tests.unit.models.models import known
from tests.unit.planning.fit.setups import usual

LLAMA = known("meta-llama/Llama-3.1-8B-Instruct")
SETUP = usual("vllm", 256)


def gpu(name: str) -> Accelerator:
    return load_catalogue().accelerator(name)


def test_says_the_arithmetic_and_the_ways_out_in_one_sentence() -> None:
    found = check_fit(LLAMA, gpu("L4"), replace(SETUP, max_model_len=131_072))
    assert re.match("131072 .* 16.0 GiB .* 3.5 GiB .* L4: ", found.message)
    assert found.message.endswith(": maxModelLen 28000, kvCacheDtype fp8 (57000), or gpu.count 2")
    assert found.remedies == (
        Remedy(field="maxModelLen", value="28000"),
        Remedy(field="kvCacheDtype", value="fp8", context=57_000),
        Remedy(field="gpu.count", value="2"),
    )


def test_weights_that_are_too_large_are_named_with_what_the_device_offers() -> None:
    found = check_fit(known("mistralai/Mistral-7B-Instruct-v0.3"), gpu("T4"), SETUP)
    assert found.outcome is Outcome.DOES_NOT_FIT
    assert re.match(
        r".* 13.5 GiB; .* T4 .* 13.4 GiB \(14.56 x 0.92\): model.uri of awq weights or gpu.count 2", found.message
    )


def test_other_types_are_the_last_way_out() -> None:
    found = check_fit(LLAMA, gpu("T4"), SETUP, load_catalogue().accelerators.values())
    assert [remedy.field for remedy in found.remedies] == ["model.uri", "gpu.count", "gpu.type"]
    assert found.remedies[-1].value == "A10"


def test_what_fits_by_the_optimistic_estimate_alone_is_tight() -> None:
    setup = replace(SETUP, batched_tokens=8192, quantization="fp8")
    found = check_fit(known("meta-llama/Llama-3.3-70B-Instruct"), gpu("H100"), setup)
    assert found.outcome is Outcome.TIGHT
    assert re.match(".* 2.5 GiB .* 1.9 GiB to 3.2 GiB .* H100: ", found.message)


def test_says_how_many_requests_run_at_once_and_that_others_queue() -> None:
    found = check_fit(LLAMA, gpu("L4"), SETUP)
    assert re.match("3.5 GiB .* L4: 3 of 256 .* 8192 ", found.message)
    assert found.remedies == ()


def test_a_number_of_devices_that_cannot_be_is_refused_with_those_that_can() -> None:
    found = check_fit(known("Qwen/Qwen2.5-7B-Instruct"), gpu("L4"), replace(SETUP, devices=8))
    assert found.outcome is Outcome.DOES_NOT_FIT
    assert re.match("28 .* 8: gpu.count .* 1, 2, 4, .* gpu.parallelism.pipeline .* 2$", found.message)
    assert found.remedies == (
        Remedy(field="gpu.count", value="4"),
        Remedy(field="gpu.parallelism.pipeline", value="2"),
    )


def test_llamacpp_divides_layers_not_heads() -> None:
    setup = replace(usual("llamacpp", 1), devices=3)
    assert check_fit(known("Qwen/Qwen2.5-7B-Instruct"), gpu("L4"), setup).outcome is Outcome.FITS


@pytest.mark.parametrize(
    ("facts", "accelerator"),
    [
        (ModelFacts(), gpu("L4")),
        (LLAMA, replace(gpu("L4"), memory_gib=0.0)),
        (LLAMA, gpu("Gaudi3")),
        (LLAMA, gpu("TPU-v6e")),
        (ModelFacts(file_bytes=5 * GIB, dtype="bfloat16"), gpu("L4")),
    ],
)
def test_what_is_not_known_is_never_refused(facts: ModelFacts, accelerator: Accelerator) -> None:
    found = check_fit(facts, accelerator, SETUP)
    assert (found.outcome, found.remedies) == (Outcome.UNKNOWN, ())


def test_weights_that_leave_no_room_for_the_engine_are_refused_with_both() -> None:
    found = check_fit(ModelFacts(file_bytes=int(20.1 * GIB), dtype="bfloat16"), gpu("L4"), SETUP)
    assert found.outcome is Outcome.UNKNOWN
    found = check_fit(ModelFacts(file_bytes=int(20.2 * GIB), dtype="bfloat16"), gpu("L4"), SETUP)
    assert found.outcome is Outcome.DOES_NOT_FIT
    assert re.match(".* 20.2 GiB .* 0.1 GiB; .* L4 .* 20.3 GiB ", found.message)


def test_files_alone_are_enough_to_refuse() -> None:
    found = check_fit(ModelFacts(file_bytes=141 * GIB, dtype="bfloat16"), gpu("T4"), SETUP)
    assert found.outcome is Outcome.DOES_NOT_FIT


def test_without_any_way_out_says_so() -> None:
    found = check_fit(known("meta-llama/Llama-3.1-405B-Instruct"), gpu("T4"), SETUP)
    assert (found.outcome, found.remedies) == (Outcome.DOES_NOT_FIT, ())


def test_several_devices_are_counted() -> None:
    found = check_fit(known("meta-llama/Llama-3.3-70B-Instruct"), gpu("L4"), replace(SETUP, devices=4))
    assert re.match(".* 32.9 GiB .* 4 L4; .* 20.3 GiB ", found.message)


def test_a_number_of_a_type_is_named_where_one_alone_does_not_help() -> None:
    types = load_catalogue().accelerators.values()
    found = check_fit(known("meta-llama/Llama-3.1-405B-Instruct"), gpu("T4"), SETUP, types)
    (remedy,) = found.remedies
    assert remedy.field == "gpu.type"
    assert remedy.count > 1
    setup = replace(SETUP, devices=remedy.count)
    assert check_fit(known("meta-llama/Llama-3.1-405B-Instruct"), gpu(remedy.value), setup).outcome is Outcome.FITS


def test_slices_are_not_added_up_and_a_whole_device_takes_their_place() -> None:
    device = load_catalogue().device("nvidia.com/mig-1g.10gb")
    assert device is not None
    a_slice = replace(device, resource_name="nvidia.com/mig-1g.10gb", name="A100-80GB", capability="8.0")
    found = check_fit(LLAMA, a_slice, SETUP, load_catalogue().accelerators.values())
    assert "gpu.count" not in [remedy.field for remedy in found.remedies]
    last = found.remedies[-1]
    assert (last.field, last.value, last.without) == ("gpu.type", "A100-80GB", "gpu.resourceName")
    assert "mig-1g.10gb" in found.message


def test_whole_experts_are_divided_over_more_devices() -> None:
    model = known("Qwen/Qwen3-235B-A22B")
    model = replace(model, file_bytes=0, quantization="fp8", quantization_group=128)
    divided = check_fit(model, gpu("H100"), replace(SETUP, devices=8))
    assert (divided.outcome, divided.remedies[-1].field) == (Outcome.DOES_NOT_FIT, "gpu.parallelism.pipeline")
    whole = check_fit(model, gpu("H100"), replace(SETUP, devices=8, expert=8))
    assert whole.outcome is Outcome.FITS


def test_numbers_of_devices_that_do_not_fit_are_no_way_out() -> None:
    """phi-4 can be divided by 2 at most, which two T4 are too small for."""
    setup = replace(SETUP, devices=4, max_model_len=16_384)
    found = check_fit(known("microsoft/phi-4"), gpu("T4"), setup, load_catalogue().accelerators.values())
    assert [remedy.field for remedy in found.remedies] == ["gpu.parallelism.pipeline", "gpu.type"]
    assert "may be" not in found.message
    found = check_fit(known("microsoft/phi-4"), gpu("T4"), replace(setup, kinds=frozenset()), [gpu("A30")])
    assert [remedy.field for remedy in found.remedies] == ["gpu.type"]


def test_another_type_is_named_only_if_it_fits_with_the_numbers_that_are_usual_there() -> None:
    model, setup = known("Qwen/Qwen2.5-14B-Instruct"), replace(SETUP, max_num_seqs=32, max_model_len=8192)
    names = {}
    for seqs in (32, 1024):
        found = check_fit(model, gpu("T4"), replace(setup, max_num_seqs=seqs), load_catalogue().accelerators.values())
        names[seqs] = next(remedy.value for remedy in found.remedies if remedy.field == "gpu.type")
    assert gpu(names[32]).memory_gib <= gpu(names[1024]).memory_gib
    usual = replace(setup, max_num_seqs=256)
    assert check_fit(model, gpu(names[32]), usual).outcome is Outcome.FITS
