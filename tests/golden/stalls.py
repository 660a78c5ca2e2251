"""What is said of engines that hang, of too many requests at once, of pulls and of nodes that go."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from llmservice.converging.concurrency import Preemptions, counted
from llmservice.converging.engine_restarts import NOT_ALLOWED, NOT_NOW, RESTARTED, Stall, obstacle, stalled_message
from llmservice.converging.leaving_nodes import leaving_message
from llmservice.converging.node_shutdown import shutdown_message
from llmservice.converging.pod_readings import Reading
from llmservice.converging.preparation import Preparation
from llmservice.converging.pulling import pulling
from llmservice.converging.scaled_pods import PodPhase, ScaledPod
from tests.unit.autoscaling.builders import counters

_STALL = Stall(pod="chat-7d9f-x2", uid="1", running=14, seconds=130.0, silent=True)
_HUNG = ScaledPod(name="chat-7d9f-x2", uid="1", phase=PodPhase.READY)
_STARTING = ScaledPod(name="chat-7d9f-z9", uid="2", phase=PodPhase.STARTING)
_IMAGE = "docker.io/vllm/vllm-openai:v0.33.0"


def sentences() -> Iterator[str]:
    """One a line, with its reason."""
    unasked = replace(_STALL, silent=False, running=1)
    for outcome in (RESTARTED, NOT_ALLOWED, NOT_NOW):
        yield f"EngineStalled: {stalled_message(_STALL, outcome)}"
    yield f"EngineStalled: {stalled_message(unasked, obstacle(unasked, [_HUNG], None, 0.0, allowed=True))}"
    yield f"EngineStalled: {stalled_message(_STALL, obstacle(_STALL, [_HUNG, _STARTING], None, 0.0, allowed=True))}"
    yield f"EngineStalled: {stalled_message(_STALL, obstacle(_STALL, [_HUNG], 0.0, 300.0, allowed=True))}"
    yield f"ConcurrencyTooHigh: {_concurrency()}"
    for count in (1, 2):
        yield f"Pulling: 0 of {count} replicas ready; {_pulls(count)}: wait"
    yield f"NodeLeaving: {leaving_message('node-3', 'taint karpenter.sh/disrupted', 1)}"
    yield f"NodeLeaving: {leaving_message('node-3', 'cordoned', 2)}"
    for count in (1, 2):
        yield f"NodeLeaving: {shutdown_message('node-3', count)}"


def _concurrency() -> str:
    known = Preemptions()
    for minute in range(8):
        engine = counters(60.0 * minute, running=200.0, preemptions=8.0 * minute, finished=60.0 * minute)
        known = counted(known, [("1", Reading(counters=engine, kv_use=0.97))], 256, 60.0 * minute)
    assert known.condition is not None
    return known.condition.message


def _pulls(count: int) -> str:
    pull = Preparation(over=True, pulling=_IMAGE, pulling_since="2026-01-01T00:00:00Z")
    names = [f"chat-{number}" for number in range(count)]
    pods = [{"metadata": {"name": name}, "status": {}} for name in names]
    status = {"startup": {"last": {"imageSeconds": 185}}} if count > 1 else {}
    return pulling(pods, dict.fromkeys(names, pull), status, datetime(2026, 1, 1, 0, 2, 10, tzinfo=UTC))
