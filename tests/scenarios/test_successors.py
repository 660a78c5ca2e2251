"""What changes while an answer is awaited: another resource of the same name, a pod that is gone, a wish that came."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.converging.scaled_pods import ScaledPod, scaled_pods
from llmservice.converging.weights_progress import Received
from llmservice.errors import Unavailable
from llmservice.models.model_facts import Task
from llmservice.objects.endpoint_slices import slice_ref
from llmservice.objects.references import Manifest, Ref, ref_of, uid_of
from llmservice.reconcilers.adapter_loading import AdapterLoading
from llmservice.signals.engine_requests import EngineAnswer
from llmservice.signals.one_token import Answer
from llmservice.signals.source import Target
from tests.scenarios.downloading import SHARED, SIZE, DownloadWorld
from tests.scenarios.scaled_world import FakeSource, ScaledWorld
from tests.scenarios.test_adapters import LAW, LIVE, AdapterWorld
from tests.scenarios.test_contested import DEPLOYMENT, fought, set_image
from tests.scenarios.test_cost import KEY, L4, CostWorld
from tests.scenarios.test_stalls import StallWorld
from tests.scenarios.test_truncations import POD, status
from tests.scenarios.world import NAMESPACE, World
from tests.scenarios.zero_world import ONE, ZeroWorld

CHAT = Ref("LLMService", NAMESPACE, "chat")


def uid(world: World, name: str = "chat") -> str:
    return uid_of(world.get("LLMService", name))


def in_the_midst_of(world: World, verb: str, ref: Ref, happens: Any) -> None:
    """Let something happen once, when the operator makes this call."""

    def before(called: str, of: Ref) -> None:
        if (called, of) == (verb, ref):
            world.cluster.before = lambda *_: None
            happens()

    world.cluster.before = before


def made_again(world: World, **changes: Any) -> Manifest:
    """The resource is deleted, and another one of its name is made."""
    world.cluster.remove(CHAT)
    return world.apply(**changes)


def test_a_resource_that_goes_while_its_contest_is_looked_into_leaves_nothing_behind() -> None:
    world = World().serving()
    in_the_midst_of(world, "get", DEPLOYMENT, lambda: world.cluster.remove(CHAT))
    fought(world, DEPLOYMENT, set_image, minutes=1, manager="rollouts-controller")
    assert not world.exists("LLMService")
    assert world.reconciler.children._repairs == {}


def test_a_successor_waits_as_long_as_any_other_before_a_failure_is_told() -> None:
    world = World()
    world.apply()
    world.fail("apply_new", "Deployment", Unavailable("InternalError", "a webhook does not answer"))
    with pytest.raises(Unavailable):
        world.pass_once()
    world.time += timedelta(seconds=31)
    made_again(world)
    with pytest.raises(Unavailable):
        world.pass_once()
    assert world.condition() == {}


def test_nothing_is_remembered_of_a_resource_that_goes_while_a_refusal_is_reported() -> None:
    world = World().serving()
    in_the_midst_of(world, "apply_status", CHAT, lambda: world.cluster.remove(CHAT))
    asyncio.run(world.reconciler.refused(KEY, "pods is forbidden"))
    assert world.reconciler.status._written == {}


def test_devices_of_a_resource_that_goes_during_a_round_are_not_counted_on() -> None:
    world = CostWorld()
    for name in ("one", "two"):
        world.apply(name, **L4)
        world.reconcile(name)

    async def a_round() -> None:
        counting = asyncio.create_task(world.accounts.round())
        await asyncio.sleep(0)
        world.cluster.remove(Ref("LLMService", NAMESPACE, "two"))
        await counting

    asyncio.run(a_round())
    assert {*world.accounts.by_key} == {(NAMESPACE, "one")}


def test_a_successor_has_no_account_of_its_predecessor() -> None:
    world = CostWorld()
    for name in ("another", "chat"):
        world.apply(name, **L4)
        world.reconcile(name)

    async def a_round() -> None:
        counting = asyncio.create_task(world.accounts.round())
        await asyncio.sleep(0)
        made_again(world, **L4)
        await counting

    asyncio.run(a_round())
    assert KEY not in world.accounts.by_key


@dataclass
class Interrupted(FakeSource):
    """Something happens while engines are read."""

    happens: Any = None

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        found = await super().read(targets)
        if self.happens is not None and targets:
            happens, self.happens = self.happens, None
            happens()
        return found


def interrupted() -> tuple[ScaledWorld, Interrupted]:
    """One replica with three requests in it, which was read."""
    source = Interrupted(running=3.0)
    world = ScaledWorld(source=source).scaled(maximum=1)
    world.round()
    return world, source


def test_an_engine_that_crashes_while_it_is_read_is_counted_once() -> None:
    world, source = interrupted()
    source.happens = lambda: status(world, terminated={"exitCode": 139, "finishedAt": "2026-11-22T10:00:30Z"})
    world.round()
    status(world, restarts=1, running={})
    assert world.state.truncated == 3


def test_nothing_is_remembered_of_a_pod_that_goes_while_it_is_read() -> None:
    world, source = interrupted()
    source.happens = lambda: world.cluster.remove(POD)
    world.round()
    assert world.autoscaler.truncations._loads == {}


def test_a_successor_is_scaled_at_once_as_every_new_resource() -> None:
    world = ScaledWorld().scaled()
    world.autoscaler._woken.clear()
    body = world.get("LLMService")
    successor = {**body["metadata"], "uid": "u-2", "resourceVersion": "999999"}
    world.cache.put({**body, "metadata": successor})
    assert world.autoscaler._woken == {KEY}


@dataclass
class Asking:
    """Asks in the place of `Engines.ask`; `happens` in the meantime, with the readings that the autoscaler brings."""

    world: StallWorld
    happens: Any
    answer: Answer = Answer.SILENT
    asked: list[str] = field(default_factory=list)

    async def __call__(self, pod: ScaledPod, _model: str, _task: Task) -> Answer:
        self.asked.append(pod.name)
        self.happens()
        self.world.time += timedelta(seconds=10)
        self.world.engines.now = self.world.seconds()
        pods = scaled_pods(self.world.cache.of_kind("Pod"))
        reading = {each.name: self.world.engines._one(each.name) for each in pods}
        self.world.watch.note(self.world.get("LLMService"), pods, reading)
        return self.answer


def one_hangs(happens: Any, answer: Answer = Answer.SILENT) -> tuple[StallWorld, Asking]:
    """Of two engines one does nothing for long enough to be asked."""
    world = StallWorld().served()
    asking = Asking(world, lambda: happens(world), answer)
    object.__setattr__(world.watch.handler, "ask", asking)
    world.engines.hung = {"chat-0"}
    world.rounds(9)
    assert asking.asked
    return world, asking


@pytest.mark.parametrize("answer", [Answer.SILENT, Answer.SERVED])
def test_a_pod_that_goes_while_its_engine_is_asked_is_no_defect(
    answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    def goes(world: StallWorld) -> None:
        if len(world.cache.of_kind("Pod")) > 1:
            world.cluster.remove(Ref("Pod", NAMESPACE, "chat-0"))

    world, _ = one_hangs(goes, answer)
    assert "defect" not in caplog.text
    assert (world.evicted(), world.told()) == ([], [])


def test_an_engine_that_was_started_again_while_it_was_asked_is_not_restarted() -> None:
    def restarts(world: StallWorld) -> None:
        def tell(live: Manifest) -> None:
            live["status"]["containerStatuses"][0]["restartCount"] = 1

        world.engines.hung.clear()
        world.cluster.edit(Ref("Pod", NAMESPACE, "chat-0"), tell, subresource="status")

    world, asking = one_hangs(restarts)
    assert asking.asked == ["chat-0"]
    assert (world.evicted(), world.told()) == ([], [])


def test_an_engine_that_went_on_while_it_was_asked_is_not_restarted() -> None:
    world, asking = one_hangs(lambda world: world.engines.hung.clear())
    assert asking.asked == ["chat-0"]
    assert (world.evicted(), world.told()) == ([], [])


def the_slice_of_another(world: ZeroWorld) -> None:
    """The EndpointSlice is that of a predecessor, until garbage collection comes to it."""

    def change(live: Manifest) -> None:
        live["metadata"]["ownerReferences"][0]["uid"] = "that of a predecessor"

    body = world.slice()
    world.cluster.edit(slice_ref(NAMESPACE, "chat"), change)
    assert uid_of(body) == uid_of(world.slice())


def test_what_is_held_for_a_predecessor_is_not_held_for_its_successor() -> None:
    world = ZeroWorld().sleeping()
    world.hold(3)
    assert world.sleepers.held_for(uid(world), KEY) == 3
    the_slice_of_another(world)
    assert world.sleepers.held_for(uid(world), KEY) == 0


def test_requests_that_were_passed_on_for_a_predecessor_are_not_counted_for_its_successor() -> None:
    world = ZeroWorld().sleeping()
    world.hold(1)
    the_slice_of_another(world)
    world.time += timedelta(seconds=2)
    world.hurried.clear()
    world.hold(2, answered=5)
    assert (world.hurried, world.state.passed_on) == ([], 0)


def test_the_activators_of_a_predecessor_cover_no_successor() -> None:
    world = ZeroWorld().sleeping()
    assert world.sleepers.is_covered(uid(world), KEY)
    the_slice_of_another(world)
    world.time += timedelta(seconds=10)
    assert not world.sleepers.is_covered(uid(world), KEY)


def test_other_activators_cover_a_service_when_every_node_has_heard_of_them() -> None:
    world = ZeroWorld().sleeping()
    assert world.sleepers.is_covered(uid(world), KEY)
    world.activators.become(ONE)
    world.reconcile()
    assert not world.sleepers.is_covered(uid(world), KEY)
    world.time += timedelta(seconds=3)
    assert world.sleepers.is_covered(uid(world), KEY)


def test_a_pod_that_goes_is_told_no_more_of_adapters() -> None:
    """Another pod may get its address, whoever it belongs to."""
    world, asked, posted = AdapterWorld(), list[str](), list[str]()
    world.serve()

    async def nothing(_address: str, path: str) -> EngineAnswer:
        asked.append(path)
        await asyncio.sleep(0.3)
        return EngineAnswer(body=b'{"data": []}')

    async def post(_address: str, path: str, _body: bytes) -> EngineAnswer:
        posted.append(path)
        return EngineAnswer(body=b"Success")

    world.reconciler.adapters = AdapterLoading(get_page=nothing, post_json=post)
    world.apply(**LIVE, spec__adapters=[LAW])

    async def passes() -> None:
        await world.reconciler(KEY)
        world.cluster.remove(CHAT)
        await world.reconciler(KEY)
        await asyncio.sleep(0.5)

    asyncio.run(passes())
    assert (asked, posted) == (["/v1/models"], [])


def test_a_download_that_begins_again_much_later_does_not_stand_still() -> None:
    world = DownloadWorld()
    world.claim()
    world.apply(**SHARED)
    world.passes()
    world.passes()
    world.received = Received(done=SIZE // 3, expected=SIZE)
    world.pod()
    world.passes()
    made_again(world, **SHARED)
    world.time += timedelta(hours=1)
    world.passes()
    world.passes()
    world.pod()
    world.passes()
    assert "DownloadSlow" not in {each["reason"] for each in world.events()}


def test_who_wants_a_download_while_it_is_being_given_up_keeps_its_job() -> None:
    world = DownloadWorld()
    world.claim()
    world.apply(**SHARED)
    world.passes()
    world.passes()
    job = ref_of(world.job())
    world.apply(**SHARED, spec__suspend=True)
    world.passes()
    world.apply("other", **{**SHARED, "spec__model__uri": "hf://tiny/other"})
    world.time += timedelta(minutes=5)
    in_the_midst_of(world, "get", job, lambda: world.downloads.turns.of(job, world.seconds()))
    world.passes("other")
    assert job in map(ref_of, world.jobs())
