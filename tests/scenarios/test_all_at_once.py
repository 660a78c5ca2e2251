"""A cache, an autoscaler, alternatives, a stall and pods that start, in one service: each pass writes what is news."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref
from tests.scenarios.downloading import SHARED, DownloadWorld
from tests.scenarios.world import NAMESPACE

STALLED = Condition(
    type=ConditionType.ENGINE_PROGRESSING, status=False, reason=Reason.ENGINE_STALLED, message="an engine hangs"
)
POD = Ref("Pod", NAMESPACE, "chat-0")
BOUNDS = {"minReplicas": 2, "maxReplicas": 4, "policy": "Threshold", "targets": {"runningRequests": 4}}
SPEC: dict[str, Any] = {
    **SHARED,
    "spec__gpu": {"type": "L4", "verify": False, "alternatives": [{"type": "A10G"}]},
    "spec__autoscaling": BOUNDS,
    "spec__rollout": {"strategy": "Replace", "allowDowntime": False},
}
WRITES = ("apply", "apply_new", "apply_status", "post", "delete")


class AllAtOnce(DownloadWorld):
    """The world with all of it; `new_process` is an operator that remembers nothing."""

    def new_process(self) -> None:
        self.reconciler = type(self.reconciler)(
            cluster=self.cluster,
            cache=self.cache,
            observer=self.reconciler.observer,
            plan=self.reconciler.plan,
            now=lambda: self.time,
            engine=lambda *_: STALLED,
        )
        self.restart()

    def starts(self) -> None:
        """A replica is placed and loads its model."""

        def place(live: Manifest) -> None:
            live["spec"]["nodeName"] = "node-1"
            live["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

        self.cluster.edit(POD, place)


def a_world() -> AllAtOnce:
    world = AllAtOnce()
    world.new_process()
    world.claim()
    world.apply(**SPEC)
    world.passes()
    world.answers()
    world.serves()
    world.starts()
    return world


def settled(world: AllAtOnce) -> None:
    for _ in range(4):
        world.passes(seconds=1)
    world.writes()


@pytest.mark.parametrize("edit", [{}, {"spec__model__file": "other.gguf"}, {"spec__maxNumSeqs": 3}])
def test_a_second_pass_writes_nothing_and_neither_does_a_new_process(edit: dict[str, Any]) -> None:
    world = a_world()
    world.apply(**{**SPEC, **edit})
    settled(world)
    assert world.condition("EngineProgressing")["reason"] == "EngineStalled"
    world.pass_once()
    assert world.writes() == []
    world.new_process()
    world.pass_once()
    world.pass_once()
    assert world.writes() == []


def test_an_operator_that_is_killed_at_any_write_ends_where_one_that_was_not_does() -> None:
    edit = {**SPEC, "spec__model__file": "other.gguf", "spec__autoscaling": {**BOUNDS, "minReplicas": 3}}
    whole = a_world()
    whole.apply(**edit)
    settled(whole)
    for count in range(8):
        world = a_world()
        world.apply(**edit)
        left = count

        def dies(verb: str, _: Ref) -> None:
            nonlocal left
            left -= verb in WRITES
            if verb in WRITES and left < 0:
                raise Unavailable("Killed", "the process ends")

        world.cluster.before = dies
        for _ in range(3):
            try:
                world.passes(seconds=1)
            except Unavailable:
                break
        world.cluster.before = lambda *_: None
        world.new_process()
        settled(world)
        assert world.get("Deployment")["spec"] == whole.get("Deployment")["spec"]
        assert len(world.jobs()) == len(whole.jobs())
        assert world.condition()["reason"] == whole.condition()["reason"] == "Downloading"


def test_an_engine_that_hangs_is_told_although_the_spec_is_refused() -> None:
    world = a_world()
    world.apply(**{**SPEC, "spec__gpu": {"type": "none-such"}})
    settled(world)
    assert world.condition("Stalled")["status"] == "True"
    assert world.condition("EngineProgressing")["reason"] == "EngineStalled"
    world.pass_once()
    assert world.writes() == []
