"""What the kubelet says of a pod that is only played: the tenant names it in an annotation of its pods.

| annotation `hostile.example/play` | the pod                                                       |
|-----------------------------------|---------------------------------------------------------------|
| `ready ANSWER`                    | is ready, and its engine gives this answer to GET /metrics    |
| `crash TEXT`                      | ends again and again, with these last words and this log      |
| `wait TEXT`                       | never starts, and the kubelet says why in these words         |
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from random import Random
from typing import Any

from tests.cluster.kube import Body
from tests.hostile.words import adversarial, cut_to_bytes, dashes, garbled, without_nul

ANNOTATION = "hostile.example/play"
LOG_BYTES = 2**16
_MESSAGE_BYTES = 2**14
"""Four times what a kubelet lets through."""


def play_of(pod: Body) -> tuple[str, str]:
    """How the pod is played, and by which name; an honest engine where nothing is asked for."""
    kind, _, name = (pod["metadata"].get("annotations") or {}).get(ANNOTATION, "ready honest").partition(" ")
    return kind, name


def log_named(name: str, seed: str) -> bytes:
    """The log of a crashed engine."""
    random = Random(f"{seed}/{name}/log")
    if name == "dashes":
        return b"starting\n" + dashes(LOG_BYTES).encode() + b"\n"
    if name == "not-utf-8":
        return b"\xff\xfe\xc3\x28 RuntimeError: \x80\x81 token=\xfe\n" * 2000
    lines = [garbled(random, 2 ** random.randint(0, 16)) for _ in range(random.choice((1, 3, 300)))]
    return b"\n".join(lines)[: 4 * LOG_BYTES] + random.choice((b"", b"\n"))


def words_named(name: str, seed: str) -> str:
    """The termination message, or why a container waits."""
    if name == "dashes":
        return dashes(_MESSAGE_BYTES)
    random = Random(f"{seed}/{name}/words")
    return without_nul(adversarial(random, 2 ** random.randint(0, 14)))


def status_of(pod: Body, address: str, seed: str) -> Body:
    """The pod's status as its kubelet writes it; `address` where it has an engine that answers."""
    kind, name = play_of(pod)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    ready = kind == "ready"
    conditions = [
        {"type": each, "status": "True" if ready or each in _EARLY else "False", "lastTransitionTime": now}
        for each in (*_EARLY, "ContainersReady", "Ready")
    ]
    state = _STATES[kind](cut_to_bytes(words_named(name, seed), _MESSAGE_BYTES), now)
    containers = [
        {"name": each["name"], "image": each["image"], "imageID": "", "ready": ready, "started": ready, **state}
        for each in pod["spec"]["containers"]
    ]
    where = {"podIP": address, "podIPs": [{"ip": address}]} if ready else {}
    return {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers, **where}


_EARLY = ("PodReadyToStartContainers", "Initialized", "PodScheduled")


def _running(_: str, now: str) -> Mapping[str, Any]:
    return {"restartCount": 0, "state": {"running": {"startedAt": now}}}


def _crashed(words: str, now: str) -> Mapping[str, Any]:
    end = {"exitCode": 1, "reason": "Error", "message": words, "startedAt": now, "finishedAt": now}
    waiting = {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}
    return {"restartCount": 7, "state": {"waiting": waiting}, "lastState": {"terminated": end}}


def _waiting(words: str, _: str) -> Mapping[str, Any]:
    return {"restartCount": 0, "state": {"waiting": {"reason": "CreateContainerConfigError", "message": words}}}


_STATES = {"ready": _running, "crash": _crashed, "wait": _waiting}
