"""The route of a service: it comes and goes with its field, and nothing about it keeps the service from serving."""

from typing import Any

import pytest

from llmservice.errors import Refused, Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.scenarios.world import NAMESPACE, World

ROUTE = {"parentRefs": [{"name": "shared"}], "hostnames": ["chat.example.com"]}
POOL = {**ROUTE, "inferencePool": {"endpointPickerRef": {"name": "picker"}}}
REF = Ref("HTTPRoute", NAMESPACE, "chat")


def ready(world: World, name: str = "chat") -> tuple[str, str]:
    condition = world.condition("RouteReady", name)
    return condition.get("status", "absent"), condition.get("reason", "")


def answer(world: World, name: str = "chat", **said: Any) -> None:
    """What a controller writes: everything is well, unless said otherwise."""

    def write(live: Manifest) -> None:
        generation = live["metadata"]["generation"]
        conditions = [
            {"type": kind, "status": said.get(kind, "True"), "reason": "R", "observedGeneration": generation}
            for kind in ("Accepted", "ResolvedRefs")
        ]
        live["status"] = {"parents": [{"parentRef": live["spec"]["parentRefs"][0], "conditions": conditions}]}

    world.cluster.edit(Ref("HTTPRoute", NAMESPACE, name), write)


def test_it_is_made_beside_the_children_and_told_when_it_is_accepted() -> None:
    world = World().serving(spec__route=ROUTE)
    assert ready(world) == ("Unknown", "RoutePending")
    answer(world)
    world.reconcile()
    assert ready(world) == ("True", "RouteAccepted")
    assert world.get("LLMService")["status"]["route"]["addresses"] == ["chat.example.com/v1"]


def test_a_second_pass_writes_nothing() -> None:
    world = World().serving(spec__route=POOL)
    world.reconcile()
    assert world.writes() == []


def test_it_goes_with_its_field_and_nothing_restarts() -> None:
    world = World().serving(spec__route=POOL)
    before = world.get("Deployment")["spec"]["template"]
    world.apply()
    world.reconcile()
    assert {"delete HTTPRoute chat", "delete InferencePool chat"} <= set(world.writes())
    assert world.get("Deployment")["spec"]["template"] == before
    assert ready(world) == ("absent", "")
    assert "route" not in world.get("LLMService")["status"]


def test_an_edit_of_the_route_restarts_nothing() -> None:
    world = World().serving(spec__route=ROUTE)
    world.apply(spec__route={**ROUTE, "path": "/llama"})
    world.reconcile()
    assert [write for write in world.writes() if "LLMService" not in write] == ["apply HTTPRoute chat"]


def test_a_backend_that_somebody_put_in_is_taken_out() -> None:
    world = World().serving(spec__route=ROUTE)

    def elsewhere(live: Manifest) -> None:
        live["spec"]["rules"][0]["backendRefs"] = [{"name": "thief", "port": 80}]

    world.cluster.edit(REF, elsewhere)
    world.reconcile()
    (backend,) = world.get("HTTPRoute")["spec"]["rules"][0]["backendRefs"]
    assert backend["name"] == "chat"


def test_without_the_kind_it_says_so_and_serves_and_the_route_comes_with_the_kind() -> None:
    world = World()
    absent = {"HTTPRoute": "404: the server could not find the requested resource"}
    world.reconciler.observer.absent = lambda _: absent
    world.serving(spec__route=ROUTE)
    assert ready(world) == ("False", "RouteKindMissing")
    assert world.condition("Ready")["status"] == "True"
    absent.clear()
    world.reconcile()
    assert "apply_new HTTPRoute chat" in world.writes()


def test_without_pools_the_route_stays_as_it_was() -> None:
    world = World().serving(spec__route=ROUTE)
    world.reconciler.observer.absent = lambda _: {"InferencePool": "404"}
    world.apply(spec__route=POOL)
    world.reconcile()
    assert ready(world) == ("False", "RouteKindMissing")
    (backend,) = world.get("HTTPRoute")["spec"]["rules"][0]["backendRefs"]
    assert backend["kind"] == "Service"


def test_a_name_that_is_taken_is_told_and_left_alone() -> None:
    world = World()
    metadata = {"name": "chat", "namespace": NAMESPACE}
    theirs = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": {}}
    world.cluster.create(theirs)
    world.serving(spec__route=ROUTE)
    assert ready(world) == ("False", "NameConflict")
    assert world.condition("Ready")["status"] == "True"
    assert world.get("HTTPRoute")["spec"] == {}


@pytest.mark.parametrize("failure", [Refused("Forbidden", "a webhook says no"), Unavailable("InternalError", "down")])
def test_what_refuses_the_route_does_not_keep_the_service_from_serving(failure: Exception) -> None:
    world = World()

    def refuse(verb: str, ref: Ref) -> None:
        if ref.kind == "HTTPRoute" and verb != "get":
            raise failure

    world.cluster.before = refuse
    world.serving(spec__route=ROUTE)
    assert ready(world) == ("False", "RefusedByCluster")
    assert world.condition("Ready")["status"] == "True"
    world.cluster.before = InMemoryCluster().before
    assert world.reconcile() is None or ready(world)[0] == "Unknown"


def test_two_services_with_one_hostname_and_path_know_of_each_other() -> None:
    world = World().serving(spec__route=ROUTE)
    answer(world)
    world.reconcile()
    world.apply("newer", spec__route=ROUTE)
    world.reconcile("newer")
    answer(world, "newer")
    world.reconcile("newer")
    assert ready(world, "newer") == ("False", "RouteShadowed")
    assert ready(world) == ("True", "RouteAccepted")
