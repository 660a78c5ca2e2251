"""How a change reaches the replicas: chosen when it is written, told before, switched when it cannot go on.

A pass that finds the template as it was applied repeats what was chosen: it reads nothing and writes nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from llmservice.cluster.cluster import Cluster
from llmservice.converging.free_devices import NO_RIGHT, Room, Uncounted
from llmservice.converging.observed import Observed
from llmservice.converging.rollout_choice import (
    NOTHING_TO_LOSE,
    Expected,
    RolloutChoice,
    Serving,
    after_no_place,
    choose,
    choose_replacing,
    may_wait,
)
from llmservice.converging.rollout_record import RolloutRecord, changes_template, record_of, template_digest
from llmservice.converging.rollout_step import Rollout, RolloutStep
from llmservice.converging.rollout_surge import (
    NO_PLACE_SECONDS,
    SCALE_UP_SECONDS,
    WithoutPlace,
    adds_a_node,
    without_place,
)
from llmservice.converging.startup_phases import expected_start_seconds
from llmservice.objects.references import Manifest, is_being_deleted, ref_of
from llmservice.objects.workloads import answering_template, workload_in
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.announcing import announce
from llmservice.reconcilers.free_devices import FreeDevices

_WAITING_SECONDS = 60.0
_DECIDED_SECONDS = 30.0
"""A choice that could not be written is kept for so long: a write that meets a conflict is tried again at once."""


@dataclass(frozen=True, slots=True)
class _Decided:
    generation: int
    template: str
    choice: RolloutChoice
    at: float


@dataclass(slots=True, kw_only=True)
class Rollouts:
    """Chooses how each change is rolled out. `now` is the clock (UTC), `clock` is monotonic, in seconds.

    `free` is None where nodes and pods of the cluster may not be read.
    """

    cluster: Cluster
    now: Callable[[], datetime]
    clock: Callable[[], float]
    free: FreeDevices | None = None
    _decided: dict[str, _Decided] = field(default_factory=dict)

    def forget(self, uid: str) -> None:
        """Forget a deleted resource."""
        self._decided.pop(uid, None)

    async def prepare(
        self, plan: ServicePlan, body: Manifest, manifests: Sequence[Manifest], observed: Observed
    ) -> Rollout:
        """The manifests with the strategy of this rollout; announces a new one before it is written.

        Raises what the API server answers when nodes and pods are listed.
        """
        intent = workload_in(manifests)
        live = observed.children.get(ref_of(intent))
        step = RolloutStep(plan, body, manifests, intent, live, observed.pods)
        if live is None:
            first = RolloutRecord(template=template_digest(intent))
            return step.recorded(first) if plan.rollout.by_free_devices else step.as_it_is()
        if is_being_deleted(live) or not (plan.rollout.by_free_devices or may_wait(plan)):
            return step.as_it_is()
        if changes_template(live, intent):
            return await self._begin(step)
        self.forget(plan.owner.uid)
        if self.free is not None:
            self.free.keep_promise(step.service, step.placed)
        record = record_of(live) if plan.rollout.by_free_devices else None
        return step.as_it_is() if record is None else await self._go_on(step, live, record)

    async def _begin(self, step: RolloutStep) -> Rollout:
        """The template is about to change."""
        decided = await self._decide(step, template_digest(step.intent))
        if decided.choice.strategy is None:
            return self._held(step, decided)
        if not step.plan.rollout.by_free_devices:
            return step.as_it_is()
        choice = decided.choice
        return step.recorded(RolloutRecord(decided.template, choice.strategy or "Replace", choice.message))

    async def _decide(self, step: RolloutStep, template: str) -> _Decided:
        """The choice for this template, which is told when it is made; one that was made of late is not made again."""
        owner = step.plan.owner
        decided = self._decided.get(owner.uid)
        key = (owner.generation, template)
        if decided is None or key != (decided.generation, decided.template) or self._is_over(decided, step.serving):
            decided = self._decided[owner.uid] = _Decided(*key, await self._choose(step), self.clock())
            await announce(self.cluster, step, decided.choice, self.now())
        return decided

    def _is_over(self, decided: _Decided, serving: Serving) -> bool:
        waits = decided.choice.strategy is None
        lasting = _WAITING_SECONDS if waits else _DECIDED_SECONDS
        return self.clock() - decided.at >= lasting or (waits and not serving.ready)

    async def _choose(self, step: RolloutStep) -> RolloutChoice:
        if not (step.serving.ready and step.serving.desired):
            return NOTHING_TO_LOSE
        if not step.plan.rollout.by_free_devices:
            return choose_replacing(step.plan, step.serving) or NOTHING_TO_LOSE
        room = await self._room(step)
        if isinstance(room, Room) and room.node and self.free is not None:
            self.free.promise(step.service, room, step.own)
        return choose(step.plan, step.serving, room, self._expected(step))

    async def _room(self, step: RolloutStep) -> Room | Uncounted:
        if self.free is None:
            return NO_RIGHT
        return await self.free.room(step.service, answering_template(step.intent)["spec"], step.own)

    def _held(self, step: RolloutStep, decided: _Decided) -> Rollout:
        """The Deployment stays as it is."""
        return Rollout(
            manifests=step.manifests,
            held=frozenset({ref_of(step.intent)}),
            message=decided.choice.message,
            blocked=True,
            requeue_seconds=max(1.0, decided.at + _WAITING_SECONDS - self.clock()),
        )

    async def _go_on(self, step: RolloutStep, live: Manifest, record: RolloutRecord) -> Rollout:
        """The rollout that was begun; in place from now on where its new replica finds no node."""
        waiting = without_place(live, step.pods, self.now()) if record.strategy == "Surge" else None
        if waiting is None:
            return step.recorded(record)
        if waiting.seconds < NO_PLACE_SECONDS:
            return step.recorded(record, NO_PLACE_SECONDS - waiting.seconds)
        choice = await self._after_no_place(step, waiting)
        if choice is None:
            return step.recorded(record, NO_PLACE_SECONDS)
        await announce(self.cluster, step, choice, self.now())
        return step.recorded(record.switched(choice.message))

    async def _after_no_place(self, step: RolloutStep, waiting: WithoutPlace) -> RolloutChoice | None:
        """In place, unless a node is being added, or nothing would be gained by it."""
        choice = after_no_place(step.plan, step.serving, waiting.why, self._expected(step))
        if choice is None or (waiting.seconds < SCALE_UP_SECONDS and await self._adds_a_node(step, waiting)):
            return None
        room = await self._room(step)
        return choice if isinstance(room, Uncounted) or room.node or room.released else None

    async def _adds_a_node(self, step: RolloutStep, waiting: WithoutPlace) -> bool:
        if not waiting.pod:
            return False
        selector = f"involvedObject.uid={waiting.pod}"
        return adds_a_node(await self.cluster.list("Event", step.plan.owner.namespace, field_selector=selector))

    def _expected(self, step: RolloutStep) -> Expected:
        return Expected(
            start_seconds=expected_start_seconds(step.body.get("status") or {}),
            budget_seconds=step.plan.container.startup_seconds,
        )
