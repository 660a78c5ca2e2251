"""The autoscaler of this process: its parts put together, and the sources it reads from."""

import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.cluster import Cluster
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.scaling.autoscaler import PERIOD_SECONDS, Autoscaler
from llmservice.reconcilers.scaling.scale_writer import ScaleWriter
from llmservice.reconcilers.scaling.scaled_services import ScaledServices
from llmservice.reconcilers.scaling.service_scaler import ServiceScaler
from llmservice.reconcilers.scaling.service_states import ServiceStates
from llmservice.reconcilers.workers import ServiceKey
from llmservice.settings import PREFIX, Settings
from llmservice.signals.pod_scrape import pods
from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.source import Source, Target


class Unconfigured:
    """Stands where no Prometheus is configured: nothing is read, so that no number changes, and the status says why."""

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        """The same for each target."""
        message = (
            f"no Prometheus is configured: ask an administrator to set {PREFIX}PROMETHEUS_URL of the operator, or set "
            "spec.autoscaling.source to Pods"
        )
        return dict.fromkeys(targets, ReadFailure(reason=ReadFailureReason.UNREACHABLE, message=message))


@asynccontextmanager
async def scaling_sources(settings: Settings) -> AsyncIterator[Mapping[str, Source]]:
    """Every source by its name in the API, as long as the block runs."""
    async with pods() as direct:
        with ExitStack() as stack:
            server: Source = Unconfigured()
            if settings.prometheus_url:
                wanted = PrometheusSettings(url=settings.prometheus_url, token_file=settings.prometheus_token_file)
                server = stack.enter_context(prometheus(wanted))
            yield {"Pods": direct, "Prometheus": server}


def an_autoscaler(
    cluster: Cluster,
    cache: ObjectCache,
    planner: CataloguePlanner,
    sources: Mapping[str, Source],
    changed: Callable[[ServiceKey], None],
    measured: Callable[[float], None],
    leaving_nodes: Callable[[], Collection[str]] = tuple,
) -> Autoscaler:
    """The autoscaler, listening to the cache; `changed` and `measured` as it calls them, `leaving_nodes` by name."""
    autoscaler = Autoscaler(
        services=ScaledServices(cache=cache, states=ServiceStates(), plan=planner),
        scaler=ServiceScaler(
            writer=ScaleWriter(
                cluster=cluster, cache=cache, now=lambda: datetime.now(UTC), leaving_nodes=leaving_nodes
            ),
            changed=changed,
            clock=time.time,
            period_seconds=PERIOD_SECONDS,
        ),
        sources=sources,
        measured=measured,
    )
    autoscaler.listen_to(cache)
    return autoscaler
