"""By which names a pod is read: row by row of the table, with the images a cluster may put there."""

from dataclasses import replace
from typing import Any

from llmservice.engines.metric_names import MetricNames
from llmservice.planning.service_plan import ScalingPlan, ServicePlan
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.scaling.metric_names_by_image import MetricNamesByImage
from tests.scenarios.scaled_world import ScaledWorld
from tests.scenarios.world import NAMESPACE


def a_plan(engine: str, version: str, image: str = "") -> tuple[ServicePlan, ScalingPlan]:
    world = ScaledWorld()
    options = {"version": version, **({"image": image} if image else {})}
    world.apply(spec__engine=engine, spec__engineOptions=options, spec__autoscaling={"maxReplicas": 4})
    candidates = world.autoscaler.candidates
    assert isinstance(candidates.plan, CataloguePlanner)
    world.reconcile()
    service = candidates.find((NAMESPACE, "chat"))
    assert service is not None
    return service.plan, service.scaling


OLD, NEW, OTHER = a_plan("vllm", "0.24.0"), a_plan("vllm", "0.32.0"), a_plan("tgi", "3.3.7")


def a_pod(image: str, uid: str = "a") -> dict[str, Any]:
    sidecar = {"name": "istio-proxy", "image": "istio"}
    return {"metadata": {"uid": uid}, "spec": {"containers": [sidecar, {"name": "engine", "image": image}]}}


def image(planned: tuple[ServicePlan, ScalingPlan]) -> str:
    return planned[0].container.image


def read(dialects: MetricNamesByImage, planned: tuple[ServicePlan, ScalingPlan], *images: str) -> list[MetricNames]:
    """The metric_names of a pod for each image."""
    pods = [a_pod(name, str(number)) for number, name in enumerate(images)]
    return [*dialects.of(pods, *planned).values()]


def test_a_pod_made_before_an_edit_keeps_its_readings_and_a_new_one_has_the_new_ones() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, image(OLD))
    for planned in (NEW, OTHER):
        assert read(dialects, planned, image(OLD), image(planned)) == [OLD[1].metric_names, planned[1].metric_names]


def test_a_pod_of_the_old_template_that_comes_during_the_rollout_is_an_old_one() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, image(OLD))
    assert read(dialects, NEW, *[image(OLD)] * 3) == [OLD[1].metric_names] * 3


def test_an_edit_that_is_taken_back_is_back() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, image(OLD))
    read(dialects, NEW, image(OLD), image(NEW))
    assert read(dialects, OLD, image(OLD), image(NEW)) == [OLD[1].metric_names, NEW[1].metric_names]


def test_taking_an_edit_back_heals_what_was_taken_wrongly_after_a_restart_in_the_rollout() -> None:
    dialects = MetricNamesByImage()
    assert read(dialects, NEW, image(OLD), image(NEW)) == [NEW[1].metric_names] * 2
    assert read(dialects, OLD, image(OLD), image(NEW)) == [OLD[1].metric_names, NEW[1].metric_names]


def test_the_same_version_is_read_as_the_catalogue_has_it_today() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, image(OLD))
    plan, scaling = OLD
    mirrored = replace(plan, container=replace(plan.container, image="mirror/vllm"))
    corrected = replace(scaling, metric_names=replace(scaling.metric_names, slots=("acme:slots",)))
    assert read(dialects, (mirrored, corrected), image(OLD)) == [corrected.metric_names]


def test_a_corrected_version_of_ones_own_image_counts_at_once() -> None:
    dialects = MetricNamesByImage()
    own = [a_plan("vllm", version, "acme/vllm:1") for version in ("0.24.0", "0.32.0")]
    for name in ("acme/vllm:1", "mirror.local/acme/vllm@sha256:12"):
        read(dialects, own[0], name)
        assert read(dialects, own[1], name) == [NEW[1].metric_names]


def test_images_that_the_cluster_rewrites_are_told_apart_too() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, "mirror.local/old")
    assert read(dialects, NEW, "mirror.local/old", "mirror.local/new") == [OLD[1].metric_names, NEW[1].metric_names]


def test_what_no_pod_speaks_any_more_is_forgotten() -> None:
    dialects = MetricNamesByImage()
    read(dialects, OLD, "mirror.local/old")
    read(dialects, NEW)
    assert read(dialects, NEW, "mirror.local/old") == [NEW[1].metric_names]


def test_a_pod_without_the_container_is_read_as_planned() -> None:
    assert MetricNamesByImage().of([{"metadata": {"uid": "a"}}], *NEW) == {"a": NEW[1].metric_names}
