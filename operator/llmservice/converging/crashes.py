"""Why an engine exited: from the kubelet's termination reason, the engine's log, or how long it ran."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.causes import cause_in
from llmservice.converging.diagnosis import Diagnosis, sentence
from llmservice.converging.missing import find_missing
from llmservice.converging.pod_context import PodContext
from llmservice.converging.redaction import LONGEST_TEXT, redacted
from llmservice.converging.startup_budget import ends_late_starts, probe_ends_after
from llmservice.objects.pods import has_served, has_started
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.container import HUNG_SECONDS

_KILLED = 137
_ENDED_BY_SIGTERM = 143
_NEVER_RAN = frozenset({"StartError", "ContainerCannotRun"})
_LOST = frozenset({"ContainerStatusUnknown", "Unknown"})
"""Termination reasons that a kubelet reports for a container that vanished while the kubelet was down."""
_SIGNALS: Mapping[int, tuple[Reason, str]] = {
    132: (
        Reason.CPU_NOT_SUPPORTED,
        (
            "the CPU lacks instructions that the engine is built for: choose nodes with a newer CPU in "
            "spec.pod.nodeSelector, or another build in spec.engineOptions.image"
        ),
    ),
    135: (
        Reason.SHARED_MEMORY_TOO_SMALL,
        (
            "shared memory is too small, or a file of the model cannot be read from its volume: raise "
            "spec.pod.sharedMemory, and check the volume of spec.model.uri"
        ),
    ),
    139: (
        Reason.ENGINE_CRASHED,
        (
            "the engine crashed in its own code: set another spec.engineOptions.version, and report it to the engine's "
            "project"
        ),
    ),
}
"""Exit codes of a process that SIGILL, SIGBUS or SIGSEGV ended: 128 and the number of the signal."""
_PROBE_SECONDS = 15.0
_LATE_SECONDS = 60.0
_LONGEST_MESSAGE = 4096
"""The kubelet truncates the termination messages of a pod at 12 kB altogether, the message of one container at 4."""


def crashed(context: PodContext) -> Diagnosis | None:
    """The engine exited and has not recovered; None when it never exited, or has started since.

    A restarted kubelet reports `started: false` for a moment; an engine that was ready in this run counts as started.
    """
    end = context.last_end
    if (
        not end
        or has_started(context.engine)
        or has_served(context.pod)
        or (end.get("exitCode") == 0 and context.waiting.get("reason") != "CrashLoopBackOff")
    ):
        return None
    if end.get("reason") == "OOMKilled":
        limit = context.plan.container.resource_limits.get("memory")
        used = f"more than {limit} of memory" if limit else "more memory than its node has"
        message = f"the engine used {used} and was OOM-killed; raise spec.pod.resources.limits.memory"
        return Diagnosis(reason=Reason.OUT_OF_MEMORY, message=message, uncertain=not limit)
    if end.get("reason") in _NEVER_RAN:
        return container_refused(context, str(end.get("message", "")))
    if end.get("reason") in _LOST:
        message = "the engine was lost when its node went down or rebooted; it is restarted automatically"
        return Diagnosis(reason=Reason.NODE_LOST, message=message, self_healing=True)
    text = f"{str(end.get('message', ''))[:_LONGEST_MESSAGE]}\n{context.log_tail[-LONGEST_TEXT:]}"
    return (
        _named_by_engine(context, text)
        or _timed_out(context, end)
        or _ended_by_signal(context, end)
        or _unnamed(end, text)
    )


def container_refused(context: PodContext, text: str) -> Diagnosis:
    """The node cannot create or start the engine's container; `text` is the message of the container runtime."""
    if missing := find_missing(text, context.plan.owner.namespace):
        return missing
    message = f"the container cannot be created: {sentence(text)}; check spec.engineOptions and spec.pod"
    return _named_by_engine(context, text[:LONGEST_TEXT]) or Diagnosis(reason=Reason.CONTAINER_REFUSED, message=message)


def _named_by_engine(context: PodContext, text: str) -> Diagnosis | None:
    fit = context.plan.fit
    return cause_in(text, context.log_patterns, fit.largest_context if fit else 0)


def _timed_out(context: PodContext, end: Mapping[str, Any]) -> Diagnosis | None:
    """The startup probe failed, and the kubelet stopped the engine."""
    ran, due = _ran_seconds(end), probe_ends_after(context.plan)
    latest = due + HUNG_SECONDS + _LATE_SECONDS
    if end.get("exitCode") not in {_KILLED, _ENDED_BY_SIGTERM} or not due - _PROBE_SECONDS <= ran <= latest:
        return None
    message = f"the model was not loaded within {due} s and the engine was restarted; {_longer(context.plan)}"
    return Diagnosis(reason=Reason.STARTUP_TIMED_OUT, message=message, uncertain=True)


def _longer(plan: ServicePlan) -> str:
    if ends_late_starts(plan):
        return "raise spec.startup.timeoutSeconds"
    return "look in its log for what it waited for: kubectl logs --previous"


def _ended_by_signal(context: PodContext, end: Mapping[str, Any]) -> Diagnosis | None:
    """A signal of the kernel ended the engine; none of them leaves a word in the log for sure."""
    if named := _SIGNALS.get(end.get("exitCode", 0)):
        reason, message = named
        return Diagnosis(reason=reason, message=f"{message} (exit code {end['exitCode']})")
    ran, liveness = _ran_seconds(end), context.plan.container.probes.liveness
    if end.get("exitCode") != _KILLED or not 0 < ran < liveness.period_seconds * liveness.failures:
        return None
    message = (
        f"the engine was killed after {ran:.0f} s (exit code 137), earlier than a liveness probe can: most likely its "
        "node ran out of memory; set spec.pod.resources.requests.memory to what it needs, and limits.memory"
    )
    return Diagnosis(reason=Reason.OUT_OF_MEMORY, message=message, uncertain=True)


def _ran_seconds(end: Mapping[str, Any]) -> float:
    """How long that run lasted; 0 when the kubelet does not report it."""
    began, ended = end.get("startedAt"), end.get("finishedAt")
    if not began or not ended:
        return 0.0
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def _unnamed(end: Mapping[str, Any], text: str) -> Diagnosis:
    # Redact before splitting: no single line of a multi-line private key looks like a secret.
    lines = [line for line in redacted(text, len(text)).splitlines() if line.strip()]
    cause = f": {sentence(_most_relevant(lines))}" if lines else ""
    how = f"the engine exited with code {end.get('exitCode')}"
    if end.get("exitCode") == _KILLED:
        how = "the engine was killed (exit code 137), as after failed liveness probes"
    return Diagnosis(reason=Reason.CRASH_LOOPING, message=f"{how}{cause}; see kubectl logs --previous", uncertain=True)


_EXCEPTIONS = ("Error: ", "Exception: ")


def _most_relevant(lines: Sequence[str]) -> str:
    """The last exception that does not refer to an earlier root cause; else the last line."""
    return next((line for line in reversed(lines) if _names_root_cause(line)), lines[-1])


def _names_root_cause(line: str) -> bool:
    rest = line.rpartition("See root cause above")[2]
    return any(exception in rest for exception in _EXCEPTIONS)
