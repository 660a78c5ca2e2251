"""Whatever is made, edited and deleted while answers and watches are under way: in the end what lives is as it should
be, and nothing is remembered of what is gone."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from llmservice.objects.references import Manifest, Ref, controller_of, controller_uid, ref_of, uid_of
from tests.builders import an_llmservice
from tests.scenarios.late_cluster import FAILS, Delays, has_label
from tests.scenarios.late_memories import remembered
from tests.scenarios.late_world import LateWorld
from tests.scenarios.world import NAMESPACE
from tests.unit.cluster.fake_time import FakeTimeLoop, simulate

CALM_SECONDS = 150.0
"""Long enough for the longest pause after failures, and shorter than it takes until everything is counted anew."""

SPECS: tuple[dict[str, Any], ...] = (
    {"spec__replicas": 1},
    {"spec__replicas": 2},
    {"spec__autoscaling": {"minReplicas": 1, "maxReplicas": 2}},
    {"spec__autoscaling": {"minReplicas": 0, "maxReplicas": 2, "idle": {"afterSeconds": 60}}},
    {"spec__replicas": 1, "spec__suspend": True},
)
KINDS = ("LLMService", "Deployment", "Service", "EndpointSlice", "Pod", "ReplicaSet")


@dataclass(frozen=True)
class Act:
    """What somebody does after a pause, with which resource; `which` of the specs or kinds."""

    pause: float
    verb: str
    name: str
    which: int


PAUSES = st.sampled_from((0.0, 0.01, 0.05, 0.2, 0.6, 2.0, 7.0))
ACTS = st.lists(
    st.builds(
        Act,
        pause=PAUSES | st.sampled_from((12.0, 31.0)),
        verb=st.sampled_from(("apply", "apply", "remake", "remake", "delete", "leave", "break", "relist", "lead")),
        name=st.sampled_from(("chat", "code")),
        which=st.integers(0, 5),
    ),
    min_size=1,
    max_size=14,
)
DELAYS = st.lists(PAUSES | st.just(FAILS), min_size=1, max_size=12)


async def act(world: LateWorld, what: Act) -> None:
    """Do it; what cannot be done is passed over."""
    ref = Ref("LLMService", NAMESPACE, what.name)
    if what.verb == "relist":
        world.cluster.relist(KINDS[what.which % len(KINDS)], world.cache)
    elif what.verb == "lead":
        await world.lead_anew()
    elif what.verb == "apply":
        apply(world, ref, what.which)
    elif world.cluster.peek(ref) is None:
        return
    elif what.verb == "break":
        remove(world, Ref(("Deployment", "Service")[what.which % 2], NAMESPACE, what.name))
    elif what.verb == "leave":
        await leave(world, ref)
    else:
        remove(world, ref)
        if what.verb == "remake":
            apply(world, ref, what.which)


def apply(world: LateWorld, ref: Ref, which: int) -> None:
    body = an_llmservice(
        metadata__name=ref.name,
        metadata__namespace=NAMESPACE,
        metadata__uid=None,
        spec__engine="llamacpp",
        spec__gpu={"type": "L4", "count": 1},
        **SPECS[which % len(SPECS)],
    )
    live = world.cluster.peek(ref)
    if live is None:
        world.born.add(uid_of(world.cluster.create(body)))
    elif "deletionTimestamp" not in live["metadata"]:
        world.cluster.edit(ref, lambda edited: edited.update(spec=body["spec"]))


def remove(world: LateWorld, ref: Ref) -> None:
    if world.cluster.peek(ref) is not None:
        world.cluster.remove(ref)


async def leave(world: LateWorld, ref: Ref) -> None:
    """It is being deleted for a while."""
    world.cluster.edit(ref, lambda live: live["metadata"].update(finalizers=["example.com/hold"]))
    remove(world, ref)
    await asyncio.sleep(1)
    world.cluster.edit(ref, lambda live: live["metadata"].update(finalizers=[]))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(acts=ACTS, delays=DELAYS)
@example(
    acts=[Act(0.0, "apply", "chat", 0), Act(0.0, "apply", "chat", 0), Act(0.0, "remake", "chat", 0)], delays=[FAILS]
)
def test_in_the_end_what_lives_is_as_it_should_be(acts: Sequence[Act], delays: Sequence[float]) -> None:
    async def scene(loop: FakeTimeLoop) -> None:
        world = LateWorld(Delays(delays), loop)

        async def users(_: LateWorld) -> None:
            for each in acts:
                await asyncio.sleep(each.pause)
                await act(world, each)

        await world.play(users, CALM_SECONDS)
        assert [*wrong(world)] == []

    simulate(scene)


def wrong(world: LateWorld) -> Iterator[str]:
    """What is not as it should be."""
    living = world.cluster.all("LLMService")
    dead = world.born - {*map(uid_of, living)}
    yield from (f"{by} of a resource that is gone" for by, uid in remembered(world) if uid in dead)
    for kind in KINDS:
        if {*map(uid_of, world.cache.of_kind(kind))} != {*map(uid_of, filter(has_label, world.cluster.all(kind)))}:
            yield f"{kind}: the cache knows others"
    for body in living:
        yield from (f"{body['metadata']['name']}: {problem}" for problem in problems(world, body))
    for child in world.cluster.all():
        if controller_of(child).get("kind") == "LLMService" and controller_uid(child) in dead:
            yield f"{ref_of(child)} of a resource that is gone"


def problems(world: LateWorld, body: Manifest) -> Iterator[str]:
    """Of a resource that lives."""
    name, status = body["metadata"]["name"], body.get("status") or {}
    if status.get("observedGeneration") != body["metadata"]["generation"]:
        yield f"the status is of generation {status.get('observedGeneration')}"
    for kind in ("Deployment", "Service"):
        child = world.cluster.peek(Ref(kind, NAMESPACE, name))
        if child is None or controller_uid(child) != uid_of(body):
            yield f"no {kind}"
    pods = [pod for pod in world.cluster.all("Pod") if pod["metadata"]["labels"]["llmservice.dev/name"] == name]
    if status.get("readyReplicas", 0) != len(pods):
        yield f"{len(pods)} pods, and the status says {status.get('readyReplicas')}"
