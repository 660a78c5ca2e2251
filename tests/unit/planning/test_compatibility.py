"""The matrix: what a version cannot do on a device is refused with what can, and nothing else is."""

import dataclasses
from typing import Any

import orjson
import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.catalogue import EngineVersions
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.planning.compatibility import has_bfloat16
from llmservice.planning.facts import RegistrySettings, choose_facts, facts_to_text
from llmservice.planning.plan import plan_service
from tests.builders import an_llmservice
from tests.unit.planning.planned import HUB, facts_of, planned, refused


def vllm(gpu: str | None, version: str = "0.33.0", **changes: Any) -> dict[str, Any]:
    return {
        "spec__engine": "vllm",
        "spec__model__uri": "hf://acme/chat-7B",
        "spec__gpu": {"type": gpu} if gpu else {"count": 0},
        "spec__engineOptions": {"version": version},
        **changes,
    }


def llamacpp(gpu: str) -> dict[str, Any]:
    return {**HUB, "spec__gpu": {"type": gpu}}


def tgi(gpu: str, version: str) -> dict[str, Any]:
    return {**vllm(gpu, version), "spec__engine": "tgi"}


def whole(error: InvalidSpec) -> tuple[str, str]:
    return error.reason, error.field


@pytest.mark.parametrize(
    ("changes", "field", "named"),
    [
        (vllm("V100-32GB"), "spec.gpu.type", ["V100-32GB", "7.0", "0.17.1", "0.10.2"]),
        (vllm("V100-16GB", "0.24.0"), "spec.gpu.type", ["7.0", "0.17.1", "0.10.2"]),
        (vllm("P100"), "spec.gpu.type", ["P100", "6.0", "spec.engine to llamacpp"]),
        (vllm("Radeon-Pro-V520"), "spec.gpu.type", ["gfx1011", "spec.engineOptions.image"]),
        (
            vllm("T4", spec__quantization="online-nvfp4"),
            "spec.quantization",
            ["online-nvfp4", "10.0", "7.5"],
        ),
        (vllm("L4", spec__quantization="online-nvfp4"), "spec.quantization", ["10.0", "8.9"]),
        (vllm("T4", spec__quantization="mxfp4"), "spec.quantization", ["8.0"]),
        (vllm("T4", "0.10.2", spec__quantization="fp8"), "spec.quantization", ["8.0", "0.33.0", "0.17.1"]),
        (vllm("T4", spec__model__facts={"quantization": "mxfp4"}), "spec.model.uri", ["mxfp4", "8.0", "awq"]),
        (
            vllm("T4", "0.10.2", spec__model__facts={"quantization": "fp8"}),
            "spec.model.uri",
            ["8.0", "0.33.0", "0.17.1"],
        ),
        (vllm("T4", spec__dtype="bfloat16"), "spec.dtype", ["bfloat16", "8.0", "T4", "7.5", " float16"]),
        (vllm("T4", spec__kvCacheDtype="fp8"), "spec.kvCacheDtype", ["fp8", "8.0"]),
        (vllm("MI300X", spec__quantization="online-int8"), "spec.quantization", ["rocm", "online-int8"]),
        (vllm(None, "0.24.0", spec__model__uri="s3://bucket/chat"), "spec.model.uri", ["cpu", "s3", "0.33.0"]),
        (vllm(None, "0.32.0", spec__model__uri="gs://bucket/chat"), "spec.model.uri", ["cpu", "gs", "0.33.0"]),
        (llamacpp("MI355X"), "spec.gpu.type", ["MI355X", "gfx950", "spec.engine to vllm"]),
        (llamacpp("Radeon-Pro-V520"), "spec.gpu.type", ["gfx1011"]),
        (tgi("B200", "3.0.1"), "spec.gpu.type", ["B200", "10.0", "3.3.7", "3.3.5"]),
        (tgi("MI355X", "3.3.7"), "spec.gpu.type", ["gfx950"]),
        (tgi("GH200", "3.3.7"), "spec.gpu.type", ["arm64"]),
        (
            vllm(None, spec__pod__nodeSelector={"kubernetes.io/arch": "arm64"}),
            "spec.pod.nodeSelector",
            ["arm64", "spec.engineOptions.image"],
        ),
        (tgi("V100-32GB", "3.3.7"), "spec.gpu.type", ["7.0", "3.1.0", "3.0.1"]),
    ],
)
def test_what_the_device_cannot_do_is_refused_with_what_it_needs_and_who_can(
    changes: dict[str, Any], field: str, named: list[str]
) -> None:
    error = refused(**changes)
    assert whole(error) == ("UnsupportedByDevice", field)
    assert [name for name in named if name not in str(error)] == []


@pytest.mark.parametrize(
    "changes",
    [
        vllm("T4"),
        vllm("T4", spec__quantization="fp8"),
        vllm("T4", spec__quantization="online-fp8"),
        vllm("T4", spec__dtype="float16"),
        vllm("V100-32GB", "0.17.1"),
        vllm("MI355X"),
        vllm("B200", spec__quantization="online-nvfp4"),
        vllm("GB10"),
        vllm("GH200"),
        vllm(None, spec__pod__nodeSelector={"kubernetes.io/arch": "amd64"}),
        vllm("L4", spec__model__uri="s3://bucket/chat"),
        vllm("MI300X", spec__model__uri="s3://bucket/chat"),
        vllm(None, "0.33.0", spec__model__uri="s3://bucket/chat"),
        llamacpp("P100"),
        llamacpp("B200"),
        llamacpp("MI300X"),
        tgi("T4", "3.1.0"),
        tgi("B200", "3.3.7"),
        {**vllm("T4"), "spec__gpu": {"resourceName": "nvidia.com/gpu"}, "spec__dtype": "bfloat16"},
    ],
)
def test_what_can_run_or_is_not_known_is_planned(changes: dict[str, Any]) -> None:
    assert planned(**changes).container.image


def test_an_engine_is_offered_only_where_it_is_known_to_run() -> None:
    assert facts_of(**vllm("P100")).engines == ("llamacpp", "ollama")
    assert facts_of(**llamacpp("MI355X")).engines == ("vllm",)
    assert facts_of(**llamacpp("Radeon-Pro-V520")).engines == ()
    assert facts_of(**vllm("L4")).engines == ()


def test_only_what_the_device_takes_of_the_same_kind_is_offered() -> None:
    error = str(refused(**vllm("T4", spec__quantization="online-nvfp4")))
    offered = error.rpartition("one of: ")[2].split(", ")
    assert offered == ["auto", "online-fp8", "online-fp8-channel", "online-fp8-block", "online-int8", "online-mxfp8"]


def test_a_checkpoint_that_the_device_does_not_take_is_not_sent_back_to_auto() -> None:
    assert "auto" not in refused(**vllm("T4", spec__model__facts={"quantization": "mxfp4"})).message


def test_a_version_that_no_longer_has_the_checkpoints_quantization_is_no_way_out() -> None:
    newest = load_catalogue().engine_version("vllm", "0.33.0")
    assert "hqq" not in newest.quantizations
    assert "0.33.0" not in refused(**vllm("T4", "0.10.2", spec__model__facts={"quantization": "hqq"})).message


def test_each_problem_has_a_line_and_the_first_is_the_field() -> None:
    error = refused(**vllm("T4", spec__dtype="bfloat16", spec__kvCacheDtype="bfloat16"))
    first, second = str(error).split("\n")
    assert error.field == "spec.dtype"
    assert first.startswith("spec.dtype: ")
    assert second.startswith("spec.kvCacheDtype: ")


def test_a_quantization_that_a_version_dropped_names_those_that_have_it() -> None:
    error = refused(**vllm("L4", spec__quantization="bitsandbytes"))
    assert whole(error) == ("UnsupportedField", "spec.quantization")
    assert [version for version in ("0.24.0", "0.17.1", "0.10.2") if version not in str(error)] == []
    assert "0.32.0" not in str(error)


def test_a_version_that_has_it_but_not_the_device_is_no_way_out() -> None:
    """hqq was last in 0.10.2, from 8.0 on."""
    assert "0.10.2" in str(refused(**vllm("L4", spec__quantization="hqq")))
    assert refused(**vllm("T4", spec__quantization="hqq")).reason == "QuantizationMisspelled"


def test_a_version_without_an_image_for_the_device_names_those_with_one() -> None:
    error = refused(**vllm("MI300X", "0.10.2"))
    assert whole(error) == ("UnsupportedField", "spec.gpu")
    assert "0.33.0 or 0.32.0 or 0.24.0 or 0.17.1" in str(error)


def test_an_image_of_ones_own_is_warned_about_and_runs() -> None:
    own = {"image": "registry.example/vllm:1", "version": "0.33.0"}
    plan = planned(**vllm("V100-32GB", spec__engineOptions=own))
    assert plan.container.image == "registry.example/vllm:1"
    assert any("spec.gpu.type" in note and "7.0" in note for note in plan.notes)


def test_the_driver_that_the_image_needs_is_noted_with_what_to_do_about_an_older_one() -> None:
    (note,) = (note for note in planned(**vllm("L4")).notes if "driver" in note)
    assert [word for word in ("R580", "VLLM_ENABLE_CUDA_COMPATIBILITY", "0.17.1") if word not in note] == []
    assert not any("driver" in note for note in planned(**vllm("L4", "0.17.1")).notes)
    assert not any("R580" in note for note in planned(**vllm("MI300X")).notes)


@pytest.mark.parametrize(
    ("gpu", "has"), [("T4", False), ("V100-32GB", False), ("A10", True), ("MI300X", True), ("Max-1550", None)]
)
def test_whether_a_device_has_bfloat16(gpu: str, has: bool | None) -> None:
    row = load_catalogue().engine_version("vllm", "0.17.1")
    assert has_bfloat16(load_catalogue().accelerator(gpu), row) is has
    kept = facts_of(**vllm(gpu, "0.33.0", spec__engineOptions={"version": "0.33.0"})) if gpu != "Max-1550" else None
    assert kept is None or has_bfloat16(kept.accelerator, kept.version) is has


def test_of_a_cpu_and_of_a_device_without_a_capability_nothing_is_known_of_bfloat16() -> None:
    row = load_catalogue().engine_version("vllm", None)
    assert has_bfloat16(None, row) is None
    assert has_bfloat16(load_catalogue().device("nvidia.com/gpu"), row) is None


def test_a_device_without_bfloat16_has_none_in_a_version_that_records_nothing() -> None:
    row = load_catalogue().engine_version("tgi", None)
    assert has_bfloat16(load_catalogue().accelerator("T4"), row) is False


def test_a_row_of_the_administrators_without_the_column_refuses_nothing() -> None:
    service = LLMService.parse(an_llmservice(**vllm("V100-32GB", spec__dtype="bfloat16")))
    row = dataclasses.replace(load_catalogue().engine_version("vllm", None), support={})
    rows = EngineVersions(default="0.33.0", versions={"0.33.0": row})
    catalogue = dataclasses.replace(load_catalogue(), engines={**load_catalogue().engines, "vllm": rows})
    facts = choose_facts(service, catalogue, RegistrySettings(), "", kept=None)
    assert plan_service(service, facts).accelerator == "V100-32GB"


def test_facts_kept_by_an_older_operator_are_planned_as_they_were() -> None:
    """What runs is neither refused nor moved to other nodes by an upgrade."""
    changes = vllm("V100-32GB", spec__gpu={"type": "V100-32GB", "shared": True, "count": 2})
    kept = orjson.loads(facts_to_text(facts_of(**changes)))
    for name in ("others", "engines"):
        del kept[name]
    del kept["version"]["support"]
    terms = [each["term"] for each in kept["accelerator"]["node_terms"]]
    for name in ("avoided", "shared_avoided", "shared_terms", "shared", "machine"):
        del kept["accelerator"][name]
    service = LLMService.parse(an_llmservice(**changes))
    facts = choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=orjson.dumps(kept).decode())
    assert list(plan_service(service, facts).pod.node_terms) == terms


@pytest.mark.parametrize("gpu", ["T4", "H100", "MI300X", "V100-32GB"])
def test_only_what_matters_on_the_device_is_kept(gpu: str) -> None:
    bare = facts_of(**vllm(gpu, "0.17.1"))
    assert len(facts_to_text(bare)) < 4096
    assert set(bare.version.support) <= {bare.accelerator.image_variant if bare.accelerator else ""}


def test_a_device_that_can_do_all_keeps_no_needs() -> None:
    (cell,) = facts_of(**vllm("B200")).version.support.values()
    assert (cell.needs, cell.least, cell.most) == ({}, "", "")


def test_every_type_is_taken_by_some_engine_or_has_no_image() -> None:
    """A slip in the matrix would lock out a device altogether."""
    rows = [row for versions in load_catalogue().engines.values() for row in versions.versions.values()]
    for accelerator in load_catalogue().accelerators.values():
        able = [row for row in rows if accelerator.image_variant in row.images]
        if able and accelerator.name != "Radeon-Pro-V520":
            assert any(
                accelerator.image_variant not in row.support
                or row.support[accelerator.image_variant].runs_on(accelerator.capability)
                for row in able
            ), accelerator.name


@pytest.mark.parametrize("engine", sorted(ENGINES))
def test_the_default_version_of_each_engine_runs_on_an_l4(engine: str) -> None:
    row = load_catalogue().engine_version(engine, None)
    assert row.support["cuda"].runs_on("8.9")


def test_a_process_sees_one_slice() -> None:
    slices = {"spec__gpu": {"type": "A100-80GB-SXM", "resourceName": "nvidia.com/mig-2g.20gb", "count": 2}}
    problem = refused(**vllm("L4") | slices)
    assert (problem.reason, problem.field) == (Reason.UNSUPPORTED_BY_DEVICE, "spec.gpu.count")
    slices["spec__gpu"]["count"] = 1
    assert planned(**vllm("L4") | slices).devices == 1
