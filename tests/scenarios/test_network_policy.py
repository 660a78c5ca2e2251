"""The NetworkPolicy of a service comes and goes with its field, and follows the operator; no replica notices."""

from llmservice.catalog.loader import load_catalogue
from llmservice.objects.references import Manifest, Ref
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.planner import CataloguePlanner
from tests.scenarios.world import NAMESPACE, World

CLOSED: dict[str, list[str]] = {"ingressFrom": []}


def test_it_is_there_before_the_pods() -> None:
    world = World()
    world.apply(spec__networkPolicy=CLOSED)
    world.reconcile()
    assert world.writes()[:3] == [f"apply_new {kind} chat" for kind in ("Service", "NetworkPolicy", "Deployment")]


def test_it_goes_with_its_field_and_nothing_restarts() -> None:
    world = World().serving(spec__networkPolicy=CLOSED)
    before = world.get("Deployment")["spec"]["template"]
    world.apply()
    world.reconcile()
    assert "delete NetworkPolicy chat" in world.writes()
    assert world.get("Deployment")["spec"]["template"] == before


def test_an_operator_that_moved_is_let_in_although_the_plan_stands() -> None:
    world = World().serving(spec__networkPolicy=CLOSED)
    world.reconciler.plan = CataloguePlanner(load_catalogue(), readers=MetricsReaders(operator="elsewhere"))
    world.reconcile()
    assert world.writes() == ["apply NetworkPolicy chat"]
    assert "elsewhere" in str(world.get("NetworkPolicy")["spec"]["ingress"])


def test_a_policy_that_was_opened_is_closed_again() -> None:
    world = World().serving(spec__networkPolicy=CLOSED)

    def open_wide(live: Manifest) -> None:
        live["spec"]["ingress"][0]["from"].append({"namespaceSelector": {}})

    world.cluster.edit(Ref("NetworkPolicy", NAMESPACE, "chat"), open_wide)
    world.reconcile()
    assert len(world.get("NetworkPolicy")["spec"]["ingress"][0]["from"]) == 1
