"""Readings from one Prometheus that scrapes the engines: a vector query per metric, for all services at once.

It must say whose a sample is: labels `namespace` and `pod`, as the Prometheus operator's PodMonitor writes them. A job
with `kubernetes_sd_configs` (role pod) needs relabelings to them, from `__meta_kubernetes_namespace` and
`__meta_kubernetes_pod_name`, and should keep pods whose label app.kubernetes.io/managed-by is llmservice-operator.
Histograms are needed with their buckets and the label `le`.

An answer bears the time of its query. How old a sample is tells the scrape it came with: `timestamp(up)`. All queries
of a round are made for one moment, so that the samples of a pod belong together.
"""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from prometheus_api_client.exceptions import PrometheusApiClientException
from prometheus_api_client.prometheus_connect import PrometheusConnect
from urllib3.util.retry import Retry

from llmservice.engines.readings import Readings
from llmservice.signals.prometheus_session import BoundedSession, Unanswered
from llmservice.signals.samples import Sample, of_another_engine, reading_from, wanted
from llmservice.signals.source import Reading, Target, Unread, UnreadReason

_SETTLED_SECONDS = 1.0
"""A scrape is written when it ends and dated when it began: the moment asked for lies this far back."""
_LONGEST_MATCHER = 4000
"""Letters of a query that fit into every URL."""
_EXPOSED = "scrape_samples_scraped"
"""How many samples a scrape found, of whatever name. It tells a page that is empty from one of another engine."""
_SCRAPE_LABELS = ("job", "instance", "prometheus", "prometheus_replica")
"""Labels that tell two scrapes of one pod apart, of which one must not be added to the other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSettings:
    """The one server an administrator configured, and what a round of queries may cost.

    `token_file` is read before each round, `ca_file` once. `stale_seconds` is how old a sample may be.
    """

    url: str
    token_file: str = ""
    ca_file: str = ""
    namespace_label: str = "namespace"
    pod_label: str = "pod"
    stale_seconds: float = 60.0
    round_seconds: float = 9.0
    answer_bytes: int = 64 * 2**20


@dataclass(slots=True)
class _Scrape:
    """What one scrape of one pod brought: when, and the samples by name, those about the scrape among them."""

    at: float
    instance: str
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        """Whether the pod answered with metrics."""
        return any(sample.value == 1.0 for sample in self.samples.get("up", ()))

    @property
    def has_load(self) -> bool:
        """Whether it brought more than is told about every scrape."""
        return bool(self.samples.keys() - {"up", _EXPOSED})

    @property
    def exposed(self) -> bool:
        """Whether the pod had any samples, as far as the server tells."""
        return any(sample.value > 0 for sample in self.samples.get(_EXPOSED, ()))


_Pod = tuple[str, str]
_Scrapes = dict[_Pod, dict[tuple[str, ...], _Scrape]]
_Row = tuple[_Pod, tuple[str, ...], Mapping[str, str], float]
"""One row of a vector: whose, of which scrape, all its labels, and its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """Asks one server. Made by `prometheus`. The client is synchronous: it works in a thread of its own."""

    settings: PrometheusSettings
    client: PrometheusConnect
    session: BoundedSession
    thread: ThreadPoolExecutor

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | Unread]:
        """A Reading or an Unread for each target, within about `round_seconds`."""
        if not targets:
            return {}
        try:
            # A name that does not resolve holds the thread longer than any of the session's limits.
            async with asyncio.timeout(self.settings.round_seconds + 1):
                return await asyncio.get_running_loop().run_in_executor(self.thread, self._read, targets)
        except TimeoutError:
            late = Unread(
                reason=UnreadReason.TIMED_OUT,
                message=f"no answer from {self.settings.url}: correct LLMSERVICE_PROMETHEUS_URL, or see the DNS",
            )
            return dict.fromkeys(targets, late)

    def _read(self, targets: Sequence[Target]) -> dict[Target, Reading | Unread]:
        try:
            now, scrapes = self._scrapes(targets)
        except Unanswered as error:
            return dict.fromkeys(targets, error.unread)
        except PrometheusApiClientException as error:
            refused = Unread(
                reason=UnreadReason.REFUSED,
                message=f"the metrics server refuses a query: {str(error)[:300]}; see its log",
            )
            return dict.fromkeys(targets, refused)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            other = Unread(
                reason=UnreadReason.NOT_METRICS,
                message=f"{self.settings.url} does not answer as Prometheus does ({type(error).__name__}): correct "
                "LLMSERVICE_PROMETHEUS_URL",
            )
            return dict.fromkeys(targets, other)
        return {
            target: self._reading_of(target, scrapes.get((target.namespace, target.pod), {}).values(), now)
            for target in targets
        }

    def _scrapes(self, targets: Sequence[Target]) -> tuple[float, _Scrapes]:
        """The server's time, and what it has of the pods in the targets' namespaces."""
        self.session.begin()
        self.client.headers = _authorization(self.settings.token_file)
        now = float(self.client.custom_query("time()")[1])
        namespaces = "|".join(sorted({target.namespace for target in targets}))
        namespaces = namespaces if len(namespaces) < _LONGEST_MATCHER else ".+"
        names = {name: label for target in targets for name, label in wanted(target.readings).items()}
        if any(target.readings.created_on_first_use for target in targets):
            names[_EXPOSED] = ""
        scrapes: _Scrapes = {}
        for pod, scrape, labels, at in self._rows("timestamp(up{})", namespaces, now):
            scrapes.setdefault(pod, {})[scrape] = _Scrape(at=at, instance=labels.get("instance", ""))
        for name, label in {**names, "up": ""}.items():
            for pod, scrape, labels, value in self._rows(f"{name}{{}}", namespaces, now):
                if found := scrapes.get(pod, {}).get(scrape):
                    found.samples.setdefault(name, []).append(Sample(labels.get(label, ""), value))
        return now, scrapes

    def _rows(self, query: str, namespaces: str, now: float) -> Iterator[_Row]:
        """The vector of a query, `{}` in it filled with what all queries ask for."""
        settings = self.settings
        matchers = f'{{{settings.namespace_label}=~"{namespaces}",{settings.pod_label}!=""}}'
        moment = {"time": str(now - _SETTLED_SECONDS)}
        for row in self.client.custom_query(query.replace("{}", matchers), moment):
            labels = row["metric"]
            pod = (labels[settings.namespace_label], labels[settings.pod_label])
            yield pod, tuple(labels.get(label, "") for label in _SCRAPE_LABELS), labels, float(row["value"][1])

    def _reading_of(self, target: Target, scrapes: Collection[_Scrape], now: float) -> Reading | Unread:
        """The scrape that fits the target best, read."""
        address = f"{target.address}:{target.port}"
        found = max(scrapes, key=lambda each: (each.has_load, each.instance == address, each.at), default=None)
        if found is None:
            return _not_scraped(
                f"it has no `up` of the pod: let it scrape port {target.port} of all pods, with the labels "
                f"{self.settings.namespace_label} and {self.settings.pod_label}"
            )
        if now - found.at > self.settings.stale_seconds:
            return _not_scraped(f"its last scrape is {now - found.at:.0f} s old: shorten the interval, or see its load")
        if not found.succeeded:
            return _not_scraped(f"it cannot scrape {found.instance or address}: its page Targets says why")
        reading = _read(found, target.readings)
        if isinstance(reading, Unread) and reading.reason is UnreadReason.SIGNAL_MISSING:
            return replace(reading, message=f"{reading.message}; or let no relabeling of the metrics server drop it")
        return reading


@contextmanager
def prometheus(settings: PrometheusSettings) -> Iterator[Prometheus]:
    """The source, as long as the block runs."""
    session = BoundedSession(
        round_seconds=settings.round_seconds, most_bytes=settings.answer_bytes, ca_file=settings.ca_file
    )
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="prometheus")
    # No other try: the next round is one. `read=False`: a timeout stays a timeout.
    client = PrometheusConnect(settings.url.rstrip("/"), session=session, retry=Retry(0, read=False))
    try:
        yield Prometheus(settings=settings, client=client, session=session, thread=thread)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
        session.close()


def _read(scrape: _Scrape, readings: Readings) -> Reading | Unread:
    if scrape.exposed and not scrape.samples.keys() & wanted(readings).keys():
        return of_another_engine(readings)
    return reading_from(scrape.samples, readings, scrape.at)


def _authorization(token_file: str) -> dict[str, str]:
    if not token_file:
        return {}
    try:
        return {"Authorization": f"Bearer {Path(token_file).read_text('utf-8').strip()}"}
    except (OSError, ValueError) as error:
        raise Unanswered(
            UnreadReason.UNAUTHORIZED,
            f"the token for the metrics server cannot be read: correct {token_file} ({error})",
        ) from error


def _not_scraped(problem: str) -> Unread:
    return Unread(reason=UnreadReason.NOT_SCRAPED, message=f"the metrics server did not scrape it: {problem}")
