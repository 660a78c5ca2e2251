"""A service with an audience, and what is done to it meanwhile."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.operator_process import Operator
from tests.cluster.services import address_of, ask
from tests.streams.audience import KNOCK_SECONDS, Audience
from tests.streams.results import Row, row_of

_SETTLED_SECONDS = 420
"""A change that does not start is given up after four crashes, with the pauses of the kubelet between them."""


@dataclass(kw_only=True)
class Stage:
    """The LLMService `chat`, ready, and an audience of `held` long streams of about `tokens` tokens.

    Beside them a short one begins every `knock_seconds`. A disturbance begins when `least_in_flight` of the long ones
    stream: at any moment some have just ended or not begun. A step of it may take `patience_seconds`. `rows` is what is
    told of the test that runs.
    """

    kube: Kube
    operator: Operator
    tokens: int
    held: int = 20
    least_in_flight: int = 15
    knock_seconds: float = KNOCK_SECONDS
    patience_seconds: float = _SETTLED_SECONDS
    rows: list[Row] = field(default_factory=list)

    @contextmanager
    def disturbed(self, by: str, *, pace: float = 0.0) -> Iterator[Audience]:
        """What the block does happens to running streams. It ends when nothing is on the move and all streams ended.

        Fails when a stream was cut or refused, or too few ran to tell.
        """
        with self.watched(by, pace=pace) as audience:
            yield audience
        row = self.rows[-1]
        assert (row.truncated, row.refused) == (0, 0), audience.told()

    @contextmanager
    def watched(self, by: str, *, pace: float = 0.0) -> Iterator[Audience]:
        """The same without a verdict: for what must cut streams."""
        ask(self.kube)  # a fresh Service refuses until kube-proxy has written its rules
        with self._audience(pace) as audience:
            self.wait(lambda: audience.in_flight() >= self.least_in_flight, audience)
            in_flight = audience.in_flight()
            yield audience
            self.wait(self.is_settled, audience)
        self.rows.append(row_of(by, in_flight, audience))
        print(by, audience.told())  # noqa: T201  (the streams of a test worth reading)

    def _audience(self, pace: float) -> Audience:
        address = address_of(self.kube)
        return Audience(
            address=address, held=self.held, tokens=self.tokens, pace=pace, knock_seconds=self.knock_seconds
        )

    def wait(self, look: Callable[[], object], audience: Audience) -> None:
        """Until it is so; the error tells of the streams too."""
        self.kube.wait(
            lambda: True if look() else None,
            lambda: [audience.told(), *map(_told, self.kube.list("Pod"))],
            self.patience_seconds,
        )

    def pods(self) -> set[str]:
        """The names of all pods that have not ended, those that are going included."""
        ended = ("Failed", "Succeeded")
        return {pod["metadata"]["name"] for pod in self.kube.list("Pod") if pod["status"].get("phase") not in ended}

    def all_replaced(self, before: set[str]) -> bool:
        """Whether no pod of before is left."""
        return not before & self.pods()

    def is_settled(self) -> bool:
        """Whether the operator has done what the spec asks for and no pod is going."""
        body = self.kube.get("LLMService", "chat") or {}
        ready = condition_of(body, "Ready")
        current = ready.get("observedGeneration") == body["metadata"]["generation"]
        leaving = any("deletionTimestamp" in pod["metadata"] for pod in self.kube.list("Pod"))
        return current and ready.get("status") == "True" and ready.get("reason") == "Ready" and not leaving

    def edit(self, **fields: object) -> None:
        """Set or (None) remove fields of the spec."""
        self.kube.patch("LLMService", "chat", {"spec": fields})

    def ready_pods(self) -> list[str]:
        """The names of those that take new requests."""
        return sorted(pod["metadata"]["name"] for pod in self.kube.list("Pod") if _is_ready(pod))


def _is_ready(pod: Body) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    ready = any((item["type"], item["status"]) == ("Ready", "True") for item in conditions)
    return ready and "deletionTimestamp" not in pod["metadata"]


def _told(pod: Body) -> Body:
    return {
        "pod": pod["metadata"]["name"],
        "going": pod["metadata"].get("deletionTimestamp"),
        "conditions": [
            (item["type"], item["status"], item.get("message")) for item in pod["status"].get("conditions") or ()
        ],
    }
