"""`status.start`: what the engines reported at their start, and the memory of whose logs were read."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.converging.accelerator_in_use import Reports, started_pods, told
from llmservice.converging.predicted_start import predicted_start
from llmservice.converging.redaction import redacted
from llmservice.engines.start_report import LARGEST, LONGEST_NAME, MOST_DEVICES, StartReport, decimal
from llmservice.objects.pods import engine_of, running_of
from llmservice.objects.references import Manifest, uid_of
from llmservice.planning.fit.verdict import Verdict

Status = Mapping[str, Any]

_MOST_STARTS = 64
_DIGITS = 12
_WHOLE = {
    "deviceCount": "device_count",
    "offloadedLayers": "offloaded_layers",
    "layers": "layers",
    "kvCacheBytes": "kv_bytes",
    "kvCacheTokens": "kv_tokens",
    "requestTokens": "request_tokens",
}
"""Field of the status → field of the report."""


def start_of(pod: Manifest) -> str:
    """A short name of the current run of a pod's engine, the same for every operator."""
    run = f"{uid_of(pod)} {(running_of(engine_of(pod)) or {}).get('startedAt')}"
    return hashlib.sha256(run.encode()).hexdigest()[:_DIGITS]


def start_status(pods: Iterable[Manifest], reports: Reports, predicted: Verdict | None = None) -> dict[str, Any] | None:
    """What `status.start` says; None while no report is known.

    Where a replica does not use its devices, or some do with a part of the layers, it is about that one, else about the
    one with the least room. What it says of several starts is as true of each: a restarted operator believes it.
    """
    starts = {pod["metadata"]["name"]: start_of(pod) for pod in started_pods(pods)}
    said = {name: reports[name] for name in starts if name in reports}
    if not said:
        return None
    unused = [said[name] for name in sorted(said) if said[name].in_use is False]
    partial = {name: each for name, each in said.items() if each.is_partial}
    report = unused[0] if unused else told(partial or said) or said[min(said)]
    alike = sorted(starts[name] for name, each in said.items() if _use(each) == _use(report))
    return {**_reported(report), **_predicted(predicted), "starts": alike[:_MOST_STARTS]}


def kept_reports(status: Status, pods: Iterable[Manifest]) -> dict[str, StartReport]:
    """The reports a status remembers, by the names of the pods whose engines still run."""
    start = status.get("start")
    if not isinstance(start, Mapping):
        return {}
    known, report = frozenset(map(str, start.get("starts") or ())), _report(start)
    return {pod["metadata"]["name"]: report for pod in pods if start_of(pod) in known}


def _use(report: StartReport) -> tuple[bool | None, bool]:
    return report.in_use, report.is_partial


def _reported(report: StartReport) -> dict[str, Any]:
    requests = report.full_length_requests
    facts = {
        "backend": report.backend,
        "devices": [redacted(name)[:LONGEST_NAME] for name in report.devices[:MOST_DEVICES]] or None,
        **{field: _shown(getattr(report, name)) for field, name in _WHOLE.items()},
        "fullLengthRequests": None if requests is None else f"{requests:.2f}",
    }
    return {field: value for field, value in facts.items() if value is not None}


def _predicted(verdict: Verdict | None) -> dict[str, Any]:
    predicted = predicted_start(verdict)
    if predicted is None:
        return {}
    return {
        "predictedKvCacheBytes": min(predicted.at_least, LARGEST),
        "predictedKvCacheBytesAtMost": min(predicted.at_most, LARGEST),
        **({"predictedFullLengthRequests": f"{predicted.requests:.2f}"} if predicted.requests else {}),
    }


def _shown(number: int | None) -> int | None:
    """None for what no size can be: the schema would refuse the whole status."""
    return None if number is None or number > LARGEST else number


def _report(start: Status) -> StartReport:
    """The report as it was written; what is of another kind counts as not said."""
    whole = {name: _int(start.get(field)) for field, name in _WHOLE.items()}
    backend = start.get("backend")
    return StartReport(
        backend=backend if isinstance(backend, str) else None,
        devices=tuple(map(str, start.get("devices") or ())),
        full_length_requests=decimal(str(start.get("fullLengthRequests", ""))),
        **whole,
    )


def _int(value: object) -> int | None:
    return value if isinstance(value, int) else None
