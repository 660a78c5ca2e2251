"""One trial: a scene played while something goes wrong, and whether the end is that of a clean run."""

import difflib
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from tests.cluster.kube import Kube
from tests.cluster.operator_process import Operator
from tests.faults.proxy import Entry, FaultProxy
from tests.faults.scenes import Scene
from tests.faults.state import children_of, state_of

GIVEN_UP_AFTER_SECONDS = 60.0
"""No claim about time: how long it took is told by the table, which wants 30 s."""
_STAYS_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a scene ended: the objects with what differs from run to run masked, and how many were made and removed."""

    objects: str
    made_and_removed: Counter[str]


@dataclass(slots=True)
class Trial:
    """Scenes in namespaces of their own, with the operator behind the proxy.

    `fresh` makes a namespace for a block. `clean` holds the end of a clean run of each scene, made when it is first
    wanted. `rows` is what is told of the test that runs: a fault, and the seconds from its end to the clean end.
    """

    proxy: FaultProxy
    operator: Operator
    fresh: Callable[[], AbstractContextManager[Kube]]
    clean: dict[str, Outcome] = field(default_factory=dict)
    rows: list[tuple[str, float]] = field(default_factory=list)

    def play(
        self,
        scene: Scene,
        wrong: Callable[[Kube], object],
        heal: Callable[[Kube], object] = lambda _: None,
        *,
        restarts: bool = False,
    ) -> float:
        """Play a scene after `wrong` was done; returns the seconds from the end of the fault to the clean end.

        The fault ends with `heal`, or with its last strike. Asserts the oracle. Unless it `restarts`, the operator
        must be the same healthy process all the time.
        """
        expected = self._clean_end(scene)
        process = self.operator.process
        with self.fresh() as kube:
            scene.before(kube)
            self.proxy.scope, mark = kube.namespace, len(self.proxy.journal)
            wrong(kube)
            scene.act(kube)
            assert restarts or self.is_healthy(), "a probe would restart the operator, and no restart helps"
            heal(kube)
            seconds = self._seconds_until(kube, expected.objects)
            self.proxy.heal()
            time.sleep(_STAYS_SECONDS)
            _assert_same(state_of(kube), expected.objects)
            self._judge(kube, self.proxy.journal[mark:], expected)
            _clear(kube)
        assert restarts or process is self.operator.process, "the operator was started again"
        assert self.is_healthy(), "the operator ended, or is not healthy"
        return seconds

    def kill(self) -> None:
        """SIGKILL to the operator."""
        assert self.operator.process is not None
        self.operator.process.kill()

    def restart(self) -> None:
        """The killed operator's successor."""
        assert self.operator.process is not None
        self.operator.process.wait(10)
        self.operator.start()

    def is_healthy(self) -> bool:
        """Whether the kubelet would leave it alone."""
        try:
            with urllib.request.urlopen(
                f"http://127.0.0.1:{self.operator.environment['LLMSERVICE_PROBE_PORT']}/healthz"
            ):
                return True
        except urllib.error.URLError:
            return False

    def is_as_after(self, scene: Scene, kube: Kube) -> bool:
        """Whether all is as after a clean run of the scene."""
        return state_of(kube) == self.clean[scene.name].objects

    def wait_for(self, over: Callable[[], bool], seconds: float = GIVEN_UP_AFTER_SECONDS) -> None:
        """Until this is so."""
        deadline = time.monotonic() + seconds
        while not over():
            assert time.monotonic() < deadline, "neither the fault nor the end came"
            time.sleep(0.05)

    def _clean_end(self, scene: Scene) -> Outcome:
        if scene.name not in self.clean:
            with self.fresh() as kube:
                scene.before(kube)
                mark = len(self.proxy.journal)
                scene.act(kube)
                objects = _steady(kube)
                self.clean[scene.name] = Outcome(objects, _made_and_removed(kube, self.proxy.journal[mark:]))
                _clear(kube)
        return self.clean[scene.name]

    def _seconds_until(self, kube: Kube, expected: str) -> float:
        healed_at = time.monotonic()
        while (seen := state_of(kube)) != expected:
            if time.monotonic() - max(healed_at, self.proxy.struck_at) > GIVEN_UP_AFTER_SECONDS:
                _assert_same(seen, expected)
            time.sleep(0.05)
        return max(0.0, time.monotonic() - max(healed_at, self.proxy.struck_at))

    def _judge(self, kube: Kube, journal: list[Entry], expected: Outcome) -> None:
        """Nothing was made or removed more often than in a clean run, and nothing written to the wrong object."""
        seen = _made_and_removed(kube, journal)
        assert seen == expected.made_and_removed, f"{seen}, and {expected.made_and_removed} in a clean run"
        changed = [entry for entry in journal if entry.accepted and entry.status != 201]
        assert [str(entry.call) for entry in changed if not entry.call.uid] == [], "written to whatever has the name"
        live = kube.get("LLMService", "chat")
        owners = {owner["uid"] for child in children_of(kube) for owner in child["metadata"]["ownerReferences"]}
        assert owners <= {live["metadata"]["uid"] if live else ""}


def _clear(kube: Kube) -> None:
    """Before its namespace goes: else the operator would mend what the namespace's end takes away."""
    for body in kube.list("LLMService"):
        kube.delete("LLMService", body["metadata"]["name"])


def _assert_same(seen: str, expected: str) -> None:
    lines = difflib.unified_diff(expected.splitlines(), seen.splitlines(), "clean run", "now", lineterm="")
    assert seen == expected, "not as after a clean run:\n" + "\n".join(lines)


def _steady(kube: Kube, seconds: float = 2.0) -> str:
    """The state once it has come to an end and nothing changes any more."""
    seen, since = "", time.monotonic()
    while time.monotonic() - since < seconds:
        if (now := state_of(kube)) != seen or not _is_at_an_end(kube):
            seen, since = now, time.monotonic()
        time.sleep(0.1)
    return seen


def _is_at_an_end(kube: Kube) -> bool:
    """All children are gone with their resource, or it tells of its newest generation and has its workload."""
    live, kinds = kube.get("LLMService", "chat"), {child["kind"] for child in children_of(kube)}
    if live is None:
        return not kinds
    return bool(live["status"]["observedGeneration"] == live["metadata"]["generation"]) and "Deployment" in kinds


def _made_and_removed(kube: Kube, journal: list[Entry]) -> Counter[str]:
    made = [("made", entry) for entry in journal if entry.status == 201]
    removed = [("removed", entry) for entry in journal if entry.accepted and entry.call.verb == "delete"]
    return Counter(
        f"{what} {entry.call.resource}"
        for what, entry in (*made, *removed)
        if (entry.call.namespace, entry.call.name) == (kube.namespace, "chat")
    )
