"""The watch over engines of this process: its parts put together."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.scaled_pods import ScaledPod
from llmservice.engines.engine import PORT
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.proxied import metric_names_of_engine
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.stall_handler import StallHandler
from llmservice.reconcilers.stall_reading import UnscaledEngines
from llmservice.reconcilers.stall_watch import StallWatch
from llmservice.reconcilers.workers import ServiceKey
from llmservice.settings import Settings
from llmservice.signals.one_token import Answer, ask_for_token
from llmservice.signals.pod_session import pod_session
from llmservice.signals.source import Source

_ASK_SECONDS = 30.0
"""For one token, from an engine that has done nothing for minutes."""


def a_stall_watch(
    settings: Settings,
    cluster: Cluster,
    cache: ObjectCache,
    planner: CataloguePlanner,
    sources: Mapping[str, Source],
    changed: Callable[[ServiceKey], None],
) -> StallWatch:
    """The watch, with the autoscaler's sources; `changed` as it calls it."""
    handler = StallHandler(
        cluster=cluster, ask=_ask, now=lambda: datetime.now(UTC), stall_seconds=settings.stall_seconds
    )

    def metric_names(engine: str, version: str) -> MetricNames | None:
        try:
            return metric_names_of_engine(ENGINES[engine], planner.catalogue.engine_version(engine, version))
        except (KeyError, InvalidSpec):
            return None

    unscaled = UnscaledEngines(cache=cache, sources=sources, metric_names=metric_names)
    return StallWatch(cache=cache, unscaled=unscaled, handler=handler, changed=changed)


async def _ask(pod: ScaledPod, model: str) -> Answer:
    """A session for each: it happens once in a long while, and a connection is not kept in any case."""
    async with pod_session() as session:
        return await ask_for_token(session, pod.address, PORT, model, pod_uid=pod.uid, seconds=_ASK_SECONDS)
