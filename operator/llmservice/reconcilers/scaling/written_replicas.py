"""The number of replicas as it was written last, and who else writes it."""

from dataclasses import dataclass

from llmservice.converging.replicas import live_replicas, owners_of_replicas
from llmservice.objects.names import AUTOSCALER, OPERATOR
from llmservice.objects.references import Manifest


@dataclass(slots=True)
class WrittenReplicas:
    """`applied` is the number written last, and the Deployment as it was seen then; None before the first write.

    `overruled` are managers whose number was set back: each is told of once.
    """

    applied: tuple[Manifest, int] | None = None
    overruled: frozenset[str] = frozenset()

    def live(self, deployment: Manifest) -> int:
        """The replicas of the Deployment: what we applied, until a watch shows another one.

        Another Deployment, not another version: after etcd was restored the same version may come again.
        """
        if self.applied is not None and self.applied[0] is deployment:
            return self.applied[1]
        return live_replicas(deployment)

    def expected(self, reported: int | None) -> int | None:
        """The number that was decided last, by the status where nothing was written; None before the first decision."""
        return self.applied[1] if self.applied is not None else reported

    def has_applied(self, deployment: Manifest, replicas: int) -> None:
        """Remember a write that the cache does not show yet."""
        self.applied = deployment, replicas

    def others(self, deployment: Manifest, expected: int | None, *, may_sleep: bool) -> frozenset[str]:
        """Who else has set another number since we did, and was not overruled before.

        Whoever wakes a service that may sleep is no rival: an add-on that holds requests of its own does so.
        """
        if expected is None or self.live(deployment) == expected or (expected == 0 and may_sleep):
            return frozenset()
        return owners_of_replicas(deployment) - {OPERATOR, AUTOSCALER} - self.overruled
