"""A rollout to another engine or version under load: pods of both are there, and each is read as what it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmservice.converging.pod_readings import ReadFailure, Reading
from llmservice.objects.references import Manifest, Ref
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from llmservice.signals.source import Target
from tests.scenarios.scaled_world import FakeSource, ScaledWorld
from tests.scenarios.world import NAMESPACE
from tests.unit.signals.fake_engine import recorded

VLLM, TGI = recorded("vllm"), recorded("tgi")
"""Four requests run in the one, two in the other."""
VLLM_0_24 = b"".join(
    line for line in VLLM.splitlines(keepends=True) if not line.startswith(b"vllm:admission_rejections_total")
)


@dataclass
class Pages(FakeSource):
    """Engines that answer with whole pages: of the pod, else `page`."""

    page: bytes = VLLM
    pages: dict[str, bytes] = field(default_factory=dict)

    def _one(self, target: Target) -> Reading | ReadFailure:
        page = self.pages.get(target.pod, self.page)
        return reading_from(scan(page, wanted(target.metric_names)), target.metric_names, self.now)

    async def read(self, targets: Sequence[Target]) -> dict[Target, Reading | ReadFailure]:
        return {target: self._one(target) for target in targets}


@dataclass
class RollingWorld(ScaledWorld):
    """Three busy replicas. A pod is made with the image that the Deployment has by then; the old ones go on."""

    source: Pages = field(default_factory=Pages)

    def start_pod(self, **status: Any) -> str:
        name = super().start_pod(**status)
        image = engine_in(self.get("Deployment")["spec"]["template"])["image"]
        self.cluster.edit(Ref("Pod", NAMESPACE, name), lambda pod: engine_in(pod).update(image=image))
        return name

    def serving_with(self, version: str, page: bytes) -> "RollingWorld":
        self.source.page = page
        self.edit("vllm", version)
        self.settle()
        self.tick(3)
        assert self.replicas == 3
        return self

    def edit(self, engine: str, version: str, **options: str) -> None:
        scaling = {"minReplicas": 1, "maxReplicas": 3, "policy": "Threshold", "targets": {"runningRequests": 3}}
        self.apply(spec__engine=engine, spec__engineOptions={"version": version} | options, spec__autoscaling=scaling)
        self.reconcile()


def engine_in(pod: Manifest) -> dict[str, Any]:
    (container,) = pod["spec"]["containers"]
    found: dict[str, Any] = container
    return found


@pytest.fixture
def world() -> RollingWorld:
    return RollingWorld().serving_with("0.24.0", VLLM_0_24)


@pytest.mark.parametrize(("engine", "version"), [("tgi", "3.3.7"), ("vllm", "0.33.0")])
def test_old_pods_under_load_are_read_on_and_kept(world: RollingWorld, engine: str, version: str) -> None:
    world.edit(engine, version)
    world.tick(60)
    assert world.replicas == 3
    assert world.condition("MetricsAvailable")["status"] == "True"
    assert ("Warning", "NoFreshReadings") not in world.events()


def test_the_first_new_pod_is_read_as_the_new_engine(world: RollingWorld) -> None:
    world.edit("tgi", "3.3.7")
    world.source.pages[world.start_pod()] = TGI
    world.round()
    assert [member.running for member in world.evaluation.snapshot.ready] == [4, 4, 4, 2]


def test_the_version_of_ones_own_image_is_corrected_without_new_pods() -> None:
    world = RollingWorld()
    world.edit("vllm", "0.33.0", image="acme/vllm:1")
    world.source.page = VLLM_0_24
    world.settle()
    world.tick(2)
    assert "spec.engineOptions.version" in world.condition("MetricsAvailable")["message"]
    world.edit("vllm", "0.24.0", image="acme/vllm:1")
    world.tick(2)
    assert world.condition("MetricsAvailable")["status"] == "True"
