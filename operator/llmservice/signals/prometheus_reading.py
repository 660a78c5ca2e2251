"""The scrapes of one pod that Prometheus has → a Reading or a ReadFailure. Pure."""

from collections.abc import Collection
from dataclasses import replace

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.engines.metric_names import MetricNames
from llmservice.signals.prometheus_query import Scrape
from llmservice.signals.samples import of_another_engine, reading_from, wanted
from llmservice.signals.source import Target


def reading_of(
    target: Target, scrapes: Collection[Scrape], *, now: float, stale_seconds: float
) -> Reading | ReadFailure:
    """The scrape that fits the target best, read; `now` is the server's time in seconds since 1970."""
    address = f"{target.address}:{target.port}"
    found = max(scrapes, key=lambda each: (each.has_load, each.instance == address, each.at), default=None)
    if found is None:
        return _not_scraped(
            f"it has no `up` of the pod: let it scrape port {target.port} of all pods, with the labels "
            "namespace and pod"
        )
    if now - found.at > stale_seconds:
        return _not_scraped(f"its last scrape is {now - found.at:.0f} s old: shorten the interval, or see its load")
    if not found.succeeded:
        return _not_scraped(f"it cannot scrape {found.instance or address}: its page Targets says why")
    reading = _read(found, target.metric_names)
    if isinstance(reading, ReadFailure) and reading.reason is ReadFailureReason.SIGNAL_MISSING:
        return replace(reading, message=f"{reading.message}; or let no relabeling of the metrics server drop it")
    return reading


def _read(scrape: Scrape, metric_names: MetricNames) -> Reading | ReadFailure:
    if scrape.exposed and not scrape.samples.keys() & wanted(metric_names).keys():
        return of_another_engine(metric_names)
    return reading_from(scrape.samples, metric_names, scrape.at)


def _not_scraped(problem: str) -> ReadFailure:
    return ReadFailure(reason=ReadFailureReason.NOT_SCRAPED, message=f"the metrics server did not scrape it: {problem}")
