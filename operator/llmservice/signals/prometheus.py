"""Readings from one Prometheus that scrapes the engines: one vector query per namespace, for all of its pods.

It must say whose a sample is: labels `namespace` and `pod`, as the Prometheus operator's PodMonitor writes them. A job
with `kubernetes_sd_configs` (role pod) needs relabelings to them, from `__meta_kubernetes_namespace` and
`__meta_kubernetes_pod_name`, and should keep pods whose label app.kubernetes.io/managed-by is llmservice-operator.
Histograms are needed with their buckets and the label `le`.

An answer bears the time of its query; how old a sample is follows from the time of its scrape, `timestamp(up)`. A query
is for one moment, so that the samples of a pod belong together. A namespace whose answer is too large or comes too late
loses its own readings, and is asked after the others in the next round.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from prometheus_api_client.exceptions import PrometheusApiClientException
from prometheus_api_client.prometheus_connect import PrometheusConnect
from urllib3.util.retry import Retry

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.converging.redaction import redacted
from llmservice.signals.prometheus_query import labels_wanted, query_for, reduced, scrapes_in
from llmservice.signals.prometheus_reading import reading_of
from llmservice.signals.prometheus_session import BoundedSession, Unanswered
from llmservice.signals.source import Target

_T = TypeVar("_T")
_SETTLED_SECONDS = 1.0
"""A scrape is written when it ends and dated when it began: the moment asked for lies this far back."""
_MOST_LATE = 1024
_LONGEST_ERROR = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSettings:
    """The one server an administrator configured, and what a round of queries may cost.

    `token_file` is read before each round, `ca_file` once. `stale_seconds` is how old a sample may be. `at_once`
    answers of `answer_bytes` are in memory at a time, and one of them parsed, which takes seven times its size.
    8 MiB are about 600 pods of vLLM in one namespace.
    """

    url: str
    token_file: str = ""
    ca_file: str = ""
    namespace_label: str = "namespace"
    pod_label: str = "pod"
    stale_seconds: float = 60.0
    query_seconds: float = 3.0
    round_seconds: float = 9.0
    answer_bytes: int = 8 * 2**20
    at_once: int = 2


Answers = dict[Target, Reading | ReadFailure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prometheus:
    """Asks one server. Made by `prometheus`. The client is synchronous: it works in threads of its own."""

    settings: PrometheusSettings
    client: PrometheusConnect
    session: BoundedSession
    threads: ThreadPoolExecutor
    late: dict[str, None] = field(default_factory=dict)
    """Namespaces whose last answer was too large or late, the least recently asked first."""

    async def read(self, targets: Sequence[Target]) -> Answers:
        """A Reading or a ReadFailure for each target, within about `round_seconds`."""
        if not targets:
            return {}
        waiting = deque(self._by_namespace(targets))
        found: Answers = {}
        try:
            # A name that does not resolve holds a thread longer than any of the session's limits.
            async with asyncio.timeout(self.settings.round_seconds + 1):
                now = await self._in_thread(self._begin)
                if isinstance(now, ReadFailure):
                    return dict.fromkeys(targets, now)
                work = partial(self._ask_each, waiting, now, found)
                await asyncio.gather(*(self._in_thread(work) for _ in range(min(len(waiting), self.settings.at_once))))
        except TimeoutError:
            waiting.clear()
        late = ReadFailure(
            reason=ReadFailureReason.TIMED_OUT,
            message=f"no answer from {self.settings.url}: correct LLMSERVICE_PROMETHEUS_URL, or see the DNS",
        )
        return {target: found.get(target, late) for target in targets}

    async def _in_thread(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    def _by_namespace(self, targets: Sequence[Target]) -> list[list[Target]]:
        """The targets of each namespace; namespaces whose last answer was late come last."""
        namespaces: dict[str, list[Target]] = {}
        for target in targets:
            namespaces.setdefault(target.namespace, []).append(target)
        asked = {namespace: number for number, namespace in enumerate(self.late)}
        return [namespaces[each] for each in sorted(namespaces, key=lambda namespace: asked.get(namespace, -1))]

    def _begin(self) -> float | ReadFailure:
        """The server's time, which begins a round."""
        self.session.begin()

        def ask() -> float:
            self.client.headers = _authorization(self.settings.token_file)
            return float(self.client.custom_query("time()")[1])

        return self._answered(ask)

    def _ask_each(self, waiting: "deque[list[Target]]", now: float, found: Answers) -> None:
        """Ask for one namespace after the other, until none is left or the round is over."""
        while waiting:
            try:
                targets = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            if self.session.is_over:
                found.update(dict.fromkeys(targets, self._passed_over()))
                continue
            began = time.monotonic()
            answer = self._answered(partial(self._ask, targets, now))
            is_late = isinstance(answer, ReadFailure) or time.monotonic() - began > self.settings.query_seconds / 2
            self._note(targets[0].namespace, is_late=is_late)
            found.update(dict.fromkeys(targets, answer) if isinstance(answer, ReadFailure) else answer)

    def _ask(self, targets: Sequence[Target], now: float) -> Answers:
        settings = self.settings
        query = query_for(targets, settings.namespace_label, settings.pod_label)
        rows = self.client.custom_query(query, {"time": str(now - _SETTLED_SECONDS)})
        scrapes = scrapes_in(rows, labels_wanted(targets))
        reading = partial(reading_of, now=now, stale_seconds=settings.stale_seconds)
        return {target: reading(target, scrapes.get(target.pod, {}).values()) for target in targets}

    def _answered(self, ask: Callable[[], _T]) -> _T | ReadFailure:
        """What was asked for, or why it is not known."""
        try:
            return ask()
        except Unanswered as error:
            return error.unread
        except PrometheusApiClientException as error:
            message = f"the metrics server refuses a query: {redacted(str(error), _LONGEST_ERROR)}; see its log"
            return ReadFailure(reason=ReadFailureReason.REFUSED, message=message)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            return ReadFailure(
                reason=ReadFailureReason.NOT_METRICS,
                message=f"{self.settings.url} does not answer as Prometheus does ({type(error).__name__}): correct "
                "LLMSERVICE_PROMETHEUS_URL",
            )

    def _note(self, namespace: str, *, is_late: bool) -> None:
        self.late.pop(namespace, None)
        if is_late:
            self.late[namespace] = None
        if len(self.late) > _MOST_LATE:
            self.late.pop(next(iter(self.late)), None)

    def _passed_over(self) -> ReadFailure:
        return ReadFailure(
            reason=ReadFailureReason.PASSED_OVER,
            message=f"not asked within the round of {self.settings.round_seconds:g} s: the metrics server answers "
            "late; see its load, or take Pods as the source",
        )


@contextmanager
def prometheus(settings: PrometheusSettings) -> Iterator[Prometheus]:
    """The source, as long as the block runs."""
    session = BoundedSession(
        round_seconds=settings.round_seconds,
        query_seconds=settings.query_seconds,
        most_bytes=settings.answer_bytes,
        reduce=partial(reduced, pod_label=settings.pod_label),
        ca_file=settings.ca_file,
    )
    threads = ThreadPoolExecutor(max_workers=settings.at_once, thread_name_prefix="prometheus")
    # No other try: the next round is one. `read=False`: a timeout stays a timeout.
    client = PrometheusConnect(settings.url.rstrip("/"), session=session, retry=Retry(0, read=False))
    try:
        yield Prometheus(settings=settings, client=client, session=session, threads=threads)
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        session.close()


def _authorization(token_file: str) -> dict[str, str]:
    if not token_file:
        return {}
    try:
        return {"Authorization": f"Bearer {Path(token_file).read_text('utf-8').strip()}"}
    except (OSError, ValueError) as error:
        raise Unanswered(
            ReadFailureReason.UNAUTHORIZED,
            f"the token for the metrics server cannot be read: correct {token_file} ({error})",
        ) from error
