"""One pass over a rollout, as values: what is wanted and what is there, and what is to be written of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.converging.conditions import Condition
from llmservice.converging.free_devices import Own
from llmservice.converging.replicas import live_replicas
from llmservice.converging.rollout_choice import Serving
from llmservice.converging.rollout_record import RolloutRecord, recorded, replacing
from llmservice.objects.pods import is_living, is_placed, is_ready
from llmservice.objects.references import Manifest, Ref, uid_of
from llmservice.planning.service_plan import ServicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """The manifests to write, with what must wait, and when to look again (None: no need to).

    `strategy` and `message` are for `status.rollout`; `blocked` says that the change waits.
    """

    manifests: Sequence[Manifest]
    held: frozenset[Ref] = frozenset()
    strategy: str = ""
    message: str = ""
    blocked: bool = False
    requeue_seconds: float | None = None

    @property
    def conditions(self) -> list[Condition]:
        """That the change waits, beside what is said of the replicas that serve; none otherwise."""
        if not self.blocked:
            return []
        reason = Reason.ROLLOUT_BLOCKED
        return [Condition(type=ConditionType.RECONCILING, status=True, reason=reason, message=self.message)]

    def as_status(self) -> dict[str, str]:
        """The value of `status.rollout`; empty where there is nothing to tell."""
        told = {"strategy": self.strategy, "message": self.message}
        return {key: value for key, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class RolloutStep:
    """What one pass knows: the plan, the resource, the Deployment as wanted and as it is, and its pods."""

    plan: ServicePlan
    body: Manifest
    manifests: Sequence[Manifest]
    intent: Manifest
    live: Manifest | None
    pods: Sequence[Manifest]

    @property
    def service(self) -> str:
        """Its namespace and name ("ml/chat")."""
        return f"{self.plan.owner.namespace}/{self.plan.owner.name}"

    @property
    def serving(self) -> Serving:
        """How many replicas there are to be, and how many serve."""
        wanted = self.intent["spec"].get("replicas")
        if wanted is None:
            wanted = live_replicas(self.live) if self.live else 1
        return Serving(desired=wanted, ready=sum(map(is_ready, self.pods)))

    @property
    def own(self) -> Own:
        """The replicas. Of more than are wanted a Deployment first gives up those that are not ready."""
        living = [pod for pod in self.pods if is_living(pod)]
        surplus = max(0, len(living) - self.serving.desired)
        unready = [uid_of(pod) for pod in living if not is_ready(pod)]
        return Own(uids=frozenset(map(uid_of, living)), leaving=frozenset(unready[:surplus]))

    @property
    def placed(self) -> frozenset[str]:
        """The UIDs of its pods that are on a node."""
        return frozenset(uid_of(pod) for pod in self.pods if is_placed(pod))

    def as_it_is(self) -> Rollout:
        """Nothing of a rollout is decided here."""
        return Rollout(manifests=self.manifests)

    def recorded(self, record: RolloutRecord, requeue_seconds: float | None = None) -> Rollout:
        """The manifests with this record of the rollout, and the strategy that it says."""
        return Rollout(
            manifests=replacing(recorded(self.intent, record), self.manifests),
            strategy=record.strategy if record.message else "",
            message=record.message,
            requeue_seconds=requeue_seconds,
        )
