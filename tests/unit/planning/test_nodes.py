"""spec.gpu.nodes: what engines render of it, what is refused, and how fit and defaults follow it."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.parallelism import Parallelism
from llmservice.engines.registry import ENGINES
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.nodes import LONGEST_NAME
from llmservice.planning.service_plan import ServicePlan
from tests.unit.planning.planned import HUB, default_of, planned, refused

DEEPSEEK = "hf://deepseek-ai/DeepSeek-R1"


def on_nodes(nodes: int | None = 2, engine: str = "vllm", count: int = 8, **more: Any) -> dict[str, Any]:
    gpu = {"type": "H100", "count": count, **({} if nodes is None else {"nodes": nodes}), **more.pop("gpu", {})}
    return {"spec__engine": engine, "spec__model__uri": more.pop("uri", DEEPSEEK), "spec__gpu": gpu, **more}


def shared(**parallelism: int) -> Parallelism:
    return planned(**on_nodes(gpu={"parallelism": parallelism} if parallelism else {})).parallelism


def test_layers_are_divided_within_a_node_and_stages_are_nodes() -> None:
    plan = planned(**on_nodes())
    assert (plan.devices, plan.devices_of_node, plan.nodes) == (16, 8, 2)
    assert plan.parallelism == Parallelism(tensor=8, pipeline=2)
    assert plan.container.resource_limits["nvidia.com/gpu"] == "8"


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({"tensor": 16}, Parallelism(tensor=16)),
        ({"tensor": 4}, Parallelism(tensor=4, pipeline=4)),
        ({"pipeline": 4}, Parallelism(tensor=4, pipeline=4)),
        ({"tensor": 8, "pipeline": 2}, Parallelism(tensor=8, pipeline=2)),
    ],
)
def test_what_is_asked_for_is_done(asked: dict[str, int], chosen: Parallelism) -> None:
    assert shared(**asked) == chosen


def test_a_product_that_is_not_all_devices_is_refused() -> None:
    problem = refused(**on_nodes(gpu={"parallelism": {"tensor": 2, "pipeline": 2}}))
    assert "gpu.count x gpu.nodes" in str(problem)


def words(plan: ServicePlan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    assert plan.worker is not None
    return plan.container.args, plan.worker.args


def test_vllm_gets_rank_and_leader_from_the_groups_controller_and_workers_are_headless() -> None:
    leader, worker = words(planned(**on_nodes(3)))
    assert {"--nnodes=3", "--node-rank=$(LWS_WORKER_INDEX)", "--master-addr=$(LWS_LEADER_ADDRESS)"} <= set(leader)
    assert "--headless" not in leader
    assert [*leader, "--headless"] == [*worker]


def test_sglang_meets_on_a_port_of_the_first_node() -> None:
    leader, worker = words(planned(**on_nodes(engine="sglang")))
    meeting = "--dist-init-addr=$(LWS_LEADER_ADDRESS):20000"
    assert {"--nnodes=2", "--node-rank=$(LWS_WORKER_INDEX)", meeting, "--pp-size=2"} <= set(leader)
    assert leader == worker


def test_users_arguments_come_last_on_every_node() -> None:
    leader, worker = words(planned(**on_nodes(spec__engineOptions={"args": ["--enforce-eager"]})))
    assert (leader[-1], worker[-1]) == ("--enforce-eager", "--enforce-eager")


@pytest.mark.parametrize("nodes", [None, 1])
def test_one_node_is_what_it_was(nodes: int | None) -> None:
    plan = planned(**on_nodes(nodes, uri="hf://acme/chat-7B"))
    assert (plan.nodes, plan.worker, plan.workload_kind) == (1, None, "Deployment")
    assert not [word for word in plan.container.args if "node" in word]


@pytest.mark.parametrize("engine", [name for name, each in ENGINES.items() if not each.capabilities.across_nodes])
def test_an_engine_of_one_node_is_refused_with_those_that_can(engine: str) -> None:
    uri = {"ollama": "ollama://llama3", "llamacpp": HUB["spec__model__uri"]}.get(engine, "hf://acme/chat-7B")
    problem = refused(**on_nodes(engine=engine, count=1, uri=uri))
    line = next(line for line in str(problem).splitlines() if "spec.gpu.nodes" in line)
    assert all(name in line for name, each in ENGINES.items() if each.capabilities.across_nodes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"gpu": {"parallelism": {"data": 2}}}, "spec.gpu.parallelism.data"),
        ({"spec__adapterUpdates": "Live"}, "spec.adapterUpdates"),
        ({"metadata__name": "a" * (LONGEST_NAME + 1)}, "metadata.name"),
    ],
)
def test_what_groups_cannot_be_is_refused(changes: dict[str, Any], field: str) -> None:
    assert field in str(refused(**on_nodes(**changes)))


@pytest.mark.parametrize("flag", ["--nnodes=2", "--node-rank=1", "--master-addr=a", "--headless"])
def test_ranks_are_not_the_users_to_give(flag: str) -> None:
    problem = refused(**on_nodes(None, spec__engineOptions={"args": [flag]}))
    assert problem.reason == Reason.OWNED_ARGUMENT
    assert "spec.gpu.nodes" in str(problem)


def test_the_fit_check_counts_the_devices_of_all_nodes() -> None:
    assert refused(**on_nodes(1)).reason == Reason.DOES_NOT_FIT
    fit = planned(**on_nodes(2)).fit
    assert fit is not None
    assert (fit.outcome, fit.setup.devices, fit.setup.pipeline) == (Outcome.FITS, 16, 2)


def test_too_few_nodes_are_refused_with_how_many_would_do() -> None:
    problem = str(refused(**on_nodes(2, gpu={"type": "L4"})))
    assert "gpu.nodes 8" in problem
    assert "each of 16 L4 on 2 nodes" in problem


def test_changes_are_made_in_place_because_free_devices_of_groups_are_not_counted() -> None:
    plan = planned(**on_nodes())
    assert default_of(plan, "rollout.strategy") == "Replace"
    assert (plan.rollout.max_surge, plan.rollout.max_unavailable, plan.rollout.by_free_devices) == (0, 1, False)
    surge = planned(**on_nodes(spec__rollout={"strategy": "Surge"})).rollout
    assert (surge.max_surge, surge.max_unavailable) == (1, 0)


def test_without_a_network_policy_it_is_told_whom_the_pods_trust() -> None:
    def asked_for(**more: Any) -> bool:
        return any("spec.networkPolicy" in note for note in planned(**on_nodes(**more)).notes)

    assert asked_for()
    assert not asked_for(spec__networkPolicy={"ingressFrom": []})
    assert not any("spec.networkPolicy" in note for note in planned(**on_nodes(1, uri="hf://acme/chat-7B")).notes)


def test_how_a_replica_is_spread_is_told() -> None:
    assert any("2 pods of 8 × H100" in note for note in planned(**on_nodes()).notes)
