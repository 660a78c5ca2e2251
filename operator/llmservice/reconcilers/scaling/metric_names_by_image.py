"""By which names each pod exports its metrics: those of the engine version in it, whatever the spec says by now."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from llmservice.engines.metric_names import MetricNames
from llmservice.objects.names import CONTAINER_NAME
from llmservice.objects.references import Manifest, uid_of
from llmservice.planning.scaling_plan import ScalingPlan
from llmservice.planning.service_plan import ServicePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The engine version that was planned, with which image, and how it exports."""

    engine: str
    version: str
    image: str
    metric_names: MetricNames


@dataclass(slots=True)
class MetricNamesByImage:
    """The pods of one service, told apart by the image of their engine: a pod made by an old template has the old one.

    An image is taken to hold what was planned when it was first seen. Of old pods that is wrong after a restart of the
    operator in the middle of a rollout: they are read as pods of the new version, as far as that goes, until they end.
    """

    _known: dict[str, _Known] = field(default_factory=dict)

    def of(self, pods: Iterable[Manifest], plan: ServicePlan, scaling: ScalingPlan) -> dict[str, MetricNames]:
        """The metric names of each pod there is, by its UID; images of pods that are gone are forgotten."""
        today = _Known(
            engine=plan.engine,
            version=plan.engine_version,
            image=plan.container.image,
            metric_names=scaling.metric_names,
        )
        images = {uid_of(pod): _image_of(pod) for pod in pods}
        self._known = {image: _chosen(image, self._known.get(image), today) for image in {*images.values()}}
        return {uid: self._known[image].metric_names for uid, image in images.items()}


def _chosen(image: str, known: _Known | None, today: _Known) -> _Known:
    """How the engine in an image names its metrics.

    | the image                                            | its names                                       |
    |------------------------------------------------------|-------------------------------------------------|
    | is planned today, or was never seen                  | as planned today                                |
    | was planned with today's engine and version          | the same: the catalogue may have been corrected |
    | came of the image that is planned today              | the same: the edit corrected its version        |
    | any other                                            | as before                                       |

    A cluster may put another image into the pods than was planned: a mirror, a digest.
    """
    if known is None or today.image in (image, known.image):
        return today
    return today if (known.engine, known.version) == (today.engine, today.version) else known


def _image_of(pod: Manifest) -> str:
    containers = (pod.get("spec") or {}).get("containers") or ()
    return next((str(item.get("image") or "") for item in containers if item["name"] == CONTAINER_NAME), "")
