"""spec.gpu.parallelism: what engines render of it, what is refused, and how fit and defaults follow it."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.parallelism import ONE_DEVICE, Kind, Parallelism
from llmservice.engines.registry import ENGINES
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.service_plan import ServicePlan
from tests.unit.planning.planned import HUB, planned, refused

MIXTURE = "Qwen/Qwen3-30B-A3B"


def vllm(count: int, parallelism: dict[str, int] | None, uri: str = "acme/chat-7B", **more: Any) -> dict[str, Any]:
    gpu = {"type": "H100", "count": count, **({} if parallelism is None else {"parallelism": parallelism})}
    return {"spec__engine": "vllm", "spec__model__uri": f"hf://{uri}", "spec__gpu": gpu, **more}


def llamacpp(count: int, parallelism: dict[str, int]) -> dict[str, Any]:
    return {**HUB, "spec__gpu": {"type": "L4", "count": count, "parallelism": parallelism}}


def options(plan: ServicePlan) -> dict[str, str]:
    words = [word for word in plan.container.args if "parallel" in word]
    return {flag.removeprefix("--"): value for flag, _, value in (word.partition("=") for word in words)}


@pytest.mark.parametrize(
    ("parallelism", "rendered"),
    [
        (None, {"tensor-parallel-size": "8"}),
        ({}, {"tensor-parallel-size": "8"}),
        ({"tensor": 8}, {"tensor-parallel-size": "8"}),
        ({"pipeline": 2}, {"tensor-parallel-size": "4", "pipeline-parallel-size": "2"}),
        ({"data": 8}, {"tensor-parallel-size": "1", "data-parallel-size": "8"}),
        (
            {"data": 4, "expert": 8},
            {"tensor-parallel-size": "2", "data-parallel-size": "4", "enable-expert-parallel": ""},
        ),
        (
            {"tensor": 2, "pipeline": 2, "data": 2},
            {"tensor-parallel-size": "2", "pipeline-parallel-size": "2", "data-parallel-size": "2"},
        ),
    ],
)
def test_vllm_gets_each_kind_and_tensor_what_is_left(
    parallelism: dict[str, int] | None, rendered: dict[str, str]
) -> None:
    assert options(planned(**vllm(8, parallelism))) == rendered


@pytest.mark.parametrize(
    ("parallelism", "chosen", "row"),
    [
        ({}, Parallelism(pipeline=4), False),
        ({"pipeline": 4}, Parallelism(pipeline=4), False),
        ({"tensor": 4}, Parallelism(tensor=4), True),
    ],
)
def test_llamacpp_keeps_layers_whole_or_divides_rows(
    parallelism: dict[str, int], chosen: Parallelism, row: bool
) -> None:
    plan = planned(**llamacpp(4, parallelism))
    assert plan.parallelism == chosen
    assert ("--split-mode" in plan.container.args, "row" in plan.container.args) == (row, row)


def test_tgi_gets_its_shards() -> None:
    plan = planned(**{**vllm(2, {"tensor": 2}), "spec__engine": "tgi"})
    assert "--num-shard=2" in plan.container.args


def test_nothing_is_shared_on_the_cpu() -> None:
    assert planned(**HUB, spec__gpu={"count": 0}).parallelism == ONE_DEVICE


@pytest.mark.parametrize(
    ("changes", "field", "numbers"),
    [
        (vllm(8, {"tensor": 2, "pipeline": 2}), "spec.gpu.parallelism", ("4", "8 × H100")),
        ({**vllm(2, {"pipeline": 2}), "spec__engine": "tgi"}, "spec.gpu.parallelism.pipeline", ("tensor",)),
        (llamacpp(4, {"data": 2}), "spec.gpu.parallelism.data", ("tensor, pipeline",)),
        (llamacpp(4, {"tensor": 2}), "spec.gpu.parallelism", ("tensor: 4", "pipeline: 4")),
        (vllm(8, {"data": 2, "expert": 4}), "spec.gpu.parallelism.expert", ("8",)),
        (vllm(8, {"data": 8}, spec__maxNumSeqs=100), "spec.maxNumSeqs", ("96 or 104",)),
        (vllm(8, {"data": 8}, spec__maxNumSeqs=4), "spec.maxNumSeqs", ("set 8",)),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(changes: dict[str, Any], field: str, numbers: tuple[str, ...]) -> None:
    problem = refused(**changes)
    assert problem.field == field
    assert [number for number in numbers if number not in problem.message] == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (vllm(8, {"tensor": 8}, "Qwen/Qwen2.5-7B-Instruct"), "28 attention heads cannot be divided by 8"),
        (vllm(64, {"pipeline": 32}, "Qwen/Qwen2.5-7B-Instruct"), "28 layers cannot be divided into 32 stages"),
        (vllm(2, {"expert": 2}, "Qwen/Qwen2.5-7B-Instruct"), "no experts"),
    ],
)
def test_what_the_model_does_not_allow_is_refused_by_the_fit_check(changes: dict[str, Any], says: str) -> None:
    problem = refused(**changes)
    assert problem.reason == Reason.DOES_NOT_FIT
    assert says in problem.message
    assert "gpu.parallelism" in problem.message


def test_stages_let_devices_share_what_their_number_cannot_divide() -> None:
    assert refused(**vllm(8, None, "Qwen/Qwen2.5-7B-Instruct")).reason == Reason.DOES_NOT_FIT
    plan = planned(**vllm(8, {"pipeline": 2}, "Qwen/Qwen2.5-7B-Instruct"))
    assert plan.fit is not None
    assert plan.fit.outcome is Outcome.FITS


def weights_of(count: int, parallelism: dict[str, int], uri: str) -> float:
    plan = planned(**vllm(count, parallelism, uri))
    assert plan.fit is not None
    assert plan.fit.room is not None
    return plan.fit.room.weights


def test_each_copy_has_all_weights_and_shares_the_experts() -> None:
    dense = "Qwen/Qwen2.5-7B-Instruct"
    assert weights_of(4, {"data": 4}, dense) == weights_of(1, {}, dense)
    assert weights_of(4, {"pipeline": 4}, dense) == weights_of(4, {}, dense) == weights_of(1, {}, dense) / 4
    alone, copies, shared = (weights_of(*each, MIXTURE) for each in ((1, {}), (4, {"data": 4}), (4, {})))
    assert alone > copies > shared
    assert copies < alone / 2, "most of the weights are in the experts"


def test_copies_multiply_the_requests() -> None:
    one, four = (planned(**vllm(count, {"data": count}, "Qwen/Qwen2.5-7B-Instruct")) for count in (1, 4))
    assert four.max_num_seqs == 4 * one.max_num_seqs
    assert [word for word in four.container.args if word.startswith("--max-num-seqs")] == [
        f"--max-num-seqs={one.max_num_seqs}"
    ]
    assert one.fit is not None
    assert four.fit is not None
    # Beside others a device exchanges with them, which takes memory of each.
    assert 3.5 * one.fit.full_length_requests < four.fit.full_length_requests < 4 * one.fit.full_length_requests


def test_a_start_with_copies_may_take_as_long_as_the_startup_probe_allows() -> None:
    name = "VLLM_ENGINE_READY_TIMEOUT_S"
    for parallelism, there in (({}, False), ({"data": 2}, True)):
        environment = planned(**vllm(2, parallelism)).container.environment
        assert (name in {variable["name"] for variable in environment}) is there


KINDS = [
    (name, kind)
    for name, engine in ENGINES.items()
    if engine.capabilities.parallelism
    for kind in ("tensor", "pipeline", "data")
    if kind in engine.capabilities.parallelism.flags
]


@pytest.mark.parametrize(("engine", "kind"), KINDS)
def test_every_kind_that_an_engine_says_it_has_is_rendered(engine: str, kind: Kind) -> None:
    use = ENGINES[engine].capabilities.parallelism
    assert use is not None
    gpu = {"type": "L4", "count": 2, "parallelism": {kind: 2}}
    plan = planned(spec__engine=engine, spec__model__uri="pvc://models/chat.gguf", spec__gpu=gpu)
    assert plan.parallelism == Parallelism(**{str(kind): 2})
    flag = use.flags[kind]
    assert not flag or any(word.partition("=")[0] == flag for word in plan.container.args)
    assert flag in ENGINES[engine].flags | {""}


def test_sglang_spreads_whole_experts_over_a_part_of_the_devices() -> None:
    changes = {**vllm(8, {"tensor": 4, "pipeline": 2, "expert": 2}), "spec__engine": "sglang"}
    assert [word for word in planned(**changes).container.args if word[:5] in {"--tp-", "--pp-", "--ep-"}] == [
        "--tp-size=4",
        "--pp-size=2",
        "--ep-size=2",
    ]
    problem = refused(**{**changes, "spec__gpu__parallelism": {"tensor": 4, "pipeline": 2, "expert": 3}})
    assert problem.field == "spec.gpu.parallelism.expert"
