"""Series computed at each scrape: of each LLMService, of the watches and of the leader election.

A series cannot outlive its resource: nothing is stored but the newest body.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.cluster.watching.informer import Informer
from llmservice.controllers.endpoints.health import LoopPulse
from llmservice.converging.conditions import condition_in
from llmservice.objects.references import Manifest, Ref, ref_of

_LABELS = ("namespace", "name")
_ON_ITS_WAY = frozenset({Reason.DOWNLOADING, Reason.PROGRESSING, Reason.WEIGHTS_MISSING})
"""Why a model is not there, and will be."""
_REPLICAS = {"current": "replicas", "desired": "desiredReplicas", "ready": "readyReplicas"}


@dataclass(slots=True, eq=False)
class ServiceSeries(Collector):
    """`llmservice_info`, `_replicas`, `_condition`, `_download_failing` of each. `observe` listens to a cache."""

    _bodies: dict[Ref, Manifest] = field(default_factory=dict)

    def observe(self, before: Manifest | None, after: Manifest | None) -> None:
        """Keep the newest body of an LLMService, or drop it with the resource."""
        if after is not None and after["kind"] == "LLMService":
            self._bodies[ref_of(after)] = after
        elif before is not None and before["kind"] == "LLMService":
            self._bodies.pop(ref_of(before), None)

    def collect(self) -> Iterator[Metric]:
        """All series as they are now. Called from another thread; the copy of the dict is one step for the GIL."""
        info = GaugeMetricFamily(
            "llmservice_info",
            "What a resource asks for; always 1.",
            labels=[*_LABELS, "engine", "model", "accelerator"],
        )
        replicas = GaugeMetricFamily("llmservice_replicas", "Replicas by kind.", labels=[*_LABELS, "kind"])
        conditions = GaugeMetricFamily(
            "llmservice_condition", "1 for the status a condition has now.", labels=[*_LABELS, "type", "status"]
        )
        failing = GaugeMetricFamily(
            "llmservice_download_failing", "1 while the last try to download its model failed.", labels=_LABELS
        )
        for ref, body in [*self._bodies.items()]:
            identity, status = [ref.namespace, ref.name], body.get("status") or {}
            info.add_metric([*identity, *_described(body)], 1)
            for kind, key in _REPLICAS.items():
                if key in status:
                    replicas.add_metric([*identity, kind], status[key])
            for condition in status.get("conditions") or ():
                conditions.add_metric([*identity, condition["type"], condition["status"]], 1)
            if weights := condition_in(status, ConditionType.WEIGHTS_READY):
                failing.add_metric(identity, weights["status"] == "False" and weights["reason"] not in _ON_ITS_WAY)
        yield from (info, replicas, conditions, failing)


class Leadership(Protocol):
    """`Election`."""

    def is_leader(self) -> bool:
        """Whether this process may write now."""
        ...


class SupervisedWatch(Protocol):
    """`KopfWatch`."""

    restarts: int
    watching: bool


@dataclass(slots=True, eq=False, kw_only=True)
class ProcessSeries(Collector):
    """The loop, the watches, and leadership. `leadership` None: this process is the only one and needs no election."""

    informers: tuple[Informer, ...]
    kopf: SupervisedWatch
    loop: LoopPulse
    lease: str = ""
    leadership: Leadership | None = None

    def collect(self) -> Iterator[Metric]:
        """All series as they are now."""
        lag = self.loop.lag_seconds()
        yield GaugeMetricFamily("llmservice_event_loop_lag_seconds", "How late the event loop is.", value=lag)
        yield self._heard()
        yield self._restarts()
        if self.leadership is not None:
            leads = GaugeMetricFamily("leader_election_master_status", "1 for the leader.", labels=["name"])
            leads.add_metric([self.lease], float(self.leadership.is_leader()))
            yield leads

    def _heard(self) -> Metric:
        family = GaugeMetricFamily(
            "llmservice_watch_last_event_timestamp_seconds", "Last list, event or bookmark.", labels=["resource"]
        )
        ahead = time.time() - time.monotonic()
        for kind in _kinds(self.informers):
            heard = min(item.last_heard for item in self.informers if item.selection.kind == kind)
            family.add_metric([kind], ahead + heard)
        return family

    def _restarts(self) -> Metric:
        family = CounterMetricFamily("llmservice_watch_restarts", "Watches ended.", labels=["resource", "cause"])
        family.add_metric(["LLMService", "kopf"], self.kopf.restarts)
        for kind in _kinds(self.informers):
            causes: Counter[str] = Counter()
            for informer in self.informers:
                if informer.selection.kind == kind:
                    causes.update(informer.restarts.copy())
            for cause, count in sorted(causes.items()):
                family.add_metric([kind, cause], count)
        return family


def _kinds(informers: Iterable[Informer]) -> list[str]:
    return sorted({informer.selection.kind for informer in informers})


def _described(body: Mapping[str, Any]) -> tuple[str, str, str]:
    """Engine, model and accelerator, of which only the engine is sure to be there."""
    spec, plan = body.get("spec") or {}, (body.get("status") or {}).get("plan") or {}
    model = (spec.get("model") or {}).get("uri", "")
    return str(spec.get("engine", "")), str(model), str(plan.get("accelerator") or "")
