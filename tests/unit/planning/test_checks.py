"""Nothing a user wrote is silently ignored."""

from typing import Any

import pytest

from tests.unit.planning.planned import HUB, L4, planned, refused


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (HUB | {"spec__model__revision": "main"}, "spec.model.revision"),
        ({"spec__model__trustRemoteCode": True}, "spec.model.trustRemoteCode"),
        ({"spec__dtype": "float16"}, "spec.dtype"),
    ],
)
def test_a_field_that_means_nothing_to_the_engine_is_refused(changes: dict[str, Any], field: str) -> None:
    error = refused(**changes)
    assert error.reason == "UnsupportedField"
    assert str(error).startswith(f"{field}: llamacpp ")


def test_every_such_field_has_a_line() -> None:
    error = refused(**HUB, spec__model__revision="main", spec__dtype="float16")
    assert [line.split(":")[0] for line in str(error).splitlines()] == ["spec.model.revision", "spec.dtype"]


@pytest.mark.parametrize("written", ["q4_k_m", "Q4-K-M", "q4km", "Q4_k_M"])
def test_a_misspelled_quantization_is_refused_with_the_right_spelling(written: str) -> None:
    error = refused(spec__quantization=written)
    assert error.reason == "QuantizationMisspelled"
    assert [name for name in ("auto", "Q4_K_M", "Q4_K_S") if name in error.message] == ["Q4_K_M"]


@pytest.mark.parametrize("name", ["UD-IQ4_XS", "Q4_K_XL", "NVFP4"])
def test_any_name_that_a_publisher_gives_a_file_is_taken(name: str) -> None:
    assert f"acme/chat-7B-GGUF:{name}" in planned(**HUB, spec__quantization=name).container.args


def test_an_engine_without_such_files_takes_its_own_names_alone() -> None:
    error = refused(spec__engine="vllm", spec__model__uri="hf://a/b", spec__quantization="UD-IQ4_XS", **L4)
    assert (error.reason, "llamacpp" in str(error)) == ("UnsupportedField", True)


def test_layers_are_offloaded_by_an_engine_that_can() -> None:
    gpu = {"type": "L4", "offloadLayers": 20}
    plan = planned(spec__gpu=gpu)
    assert (plan.offload_layers, plan.verify_devices) == (20, True)
    assert plan.container.args[plan.container.args.index("--n-gpu-layers") + 1] == "20"
    error = refused(spec__engine="vllm", spec__model__uri="hf://a/b", spec__gpu=gpu)
    assert (error.reason, str(error).startswith("spec.gpu.offloadLayers: vllm ")) == ("UnsupportedField", True)
    assert "llamacpp" in error.message


def test_the_check_of_the_devices_can_be_turned_off() -> None:
    assert not planned(spec__gpu={"type": "L4", "verify": False}).verify_devices


def test_auto_in_another_case_is_misspelled_too() -> None:
    error = refused(spec__quantization="Auto")
    assert error.reason == "QuantizationMisspelled"
    assert [name for name in ("auto", "Q4_K_M", "Q4_K_S") if name in error.message] == ["auto"]


def test_an_unknown_quantization_is_refused_with_those_there_are() -> None:
    assert "auto, Q4_K_M, Q4_K_S" in str(refused(spec__quantization="awq"))


def test_arguments_nobody_owns_come_last() -> None:
    assert planned(spec__engineOptions={"args": ["--threads", "3"]}).container.args[-2:] == ("--threads", "3")


@pytest.mark.parametrize("args", [["--port", "1"], ["-c", "1"], ["--ctx_size", "1"], ["--mlock"], ["--threads=1"]])
def test_arguments_the_engine_may_not_get_are_refused(args: list[str]) -> None:
    assert str(refused(spec__engineOptions={"args": args})).startswith("spec.engineOptions.args[0]: ")


def test_variables_the_operator_owns_are_refused() -> None:
    error = refused(spec__engineOptions={"env": [{"name": "A", "value": "1"}, {"name": "LLAMA_API_KEY", "value": "x"}]})
    assert error.reason == "OwnedArgument"
    assert str(error).startswith("spec.engineOptions.env[1]: LLAMA_API_KEY ")


def test_an_image_of_ones_own_may_know_other_types_of_kv_cache() -> None:
    changes = HUB | {"spec__gpu": {"type": "L4"}, "spec__kvCacheDtype": "turbo3"}
    assert refused(**changes).field == "spec.kvCacheDtype"
    own = {"image": "registry/llama.cpp:turbo", "version": "b11312"}
    assert "turbo3" in planned(**changes, spec__engineOptions=own).container.args
