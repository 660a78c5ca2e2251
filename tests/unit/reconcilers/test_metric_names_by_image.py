"""By which names a pod is read: row by row of the table, with the images a cluster may put there."""

from dataclasses import replace
from typing import Any

from llmservice.engines.metric_names import MetricNames
from llmservice.planning.scaling_plan import ScalingPlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.planner import CataloguePlanner
from llmservice.reconcilers.scaling.metric_names_by_image import MetricNamesByImage
from tests.scenarios.scaled_world import ScaledWorld
from tests.scenarios.world import NAMESPACE


def a_plan(engine: str, version: str, image: str = "") -> tuple[ServicePlan, ScalingPlan]:
    world = ScaledWorld()
    options = {"version": version, **({"image": image} if image else {})}
    world.apply(spec__engine=engine, spec__engineOptions=options, spec__autoscaling={"maxReplicas": 4})
    services = world.autoscaler.services
    assert isinstance(services.plan, CataloguePlanner)
    world.reconcile()
    service = services.find((NAMESPACE, "chat"))
    assert service is not None
    return service.plan, service.scaling


OLD, NEW, OTHER = a_plan("vllm", "0.24.0"), a_plan("vllm", "0.32.0"), a_plan("tgi", "3.3.7")


def a_pod(image: str, uid: str = "a") -> dict[str, Any]:
    sidecar = {"name": "istio-proxy", "image": "istio"}
    return {"metadata": {"uid": uid}, "spec": {"containers": [sidecar, {"name": "engine", "image": image}]}}


def image(planned: tuple[ServicePlan, ScalingPlan]) -> str:
    return planned[0].container.image


def read(
    names_by_image: MetricNamesByImage, planned: tuple[ServicePlan, ScalingPlan], *images: str
) -> list[MetricNames]:
    """The metric names of a pod for each image."""
    pods = [a_pod(name, str(number)) for number, name in enumerate(images)]
    return [*names_by_image.of(pods, *planned).values()]


def test_a_pod_made_before_an_edit_keeps_its_readings_and_a_new_one_has_the_new_ones() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, image(OLD))
    for planned in (NEW, OTHER):
        assert read(names_by_image, planned, image(OLD), image(planned)) == [
            OLD[1].metric_names,
            planned[1].metric_names,
        ]


def test_a_pod_of_the_old_template_that_comes_during_the_rollout_is_an_old_one() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, image(OLD))
    assert read(names_by_image, NEW, *[image(OLD)] * 3) == [OLD[1].metric_names] * 3


def test_an_edit_that_is_taken_back_is_back() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, image(OLD))
    read(names_by_image, NEW, image(OLD), image(NEW))
    assert read(names_by_image, OLD, image(OLD), image(NEW)) == [OLD[1].metric_names, NEW[1].metric_names]


def test_taking_an_edit_back_heals_what_was_taken_wrongly_after_a_restart_in_the_rollout() -> None:
    names_by_image = MetricNamesByImage()
    assert read(names_by_image, NEW, image(OLD), image(NEW)) == [NEW[1].metric_names] * 2
    assert read(names_by_image, OLD, image(OLD), image(NEW)) == [OLD[1].metric_names, NEW[1].metric_names]


def test_the_same_version_is_read_as_the_catalogue_has_it_today() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, image(OLD))
    plan, scaling = OLD
    mirrored = replace(plan, container=replace(plan.container, image="mirror/vllm"))
    corrected = replace(scaling, metric_names=replace(scaling.metric_names, slots=("acme:slots",)))
    assert read(names_by_image, (mirrored, corrected), image(OLD)) == [corrected.metric_names]


def test_a_corrected_version_of_ones_own_image_counts_at_once() -> None:
    names_by_image = MetricNamesByImage()
    own = [a_plan("vllm", version, "acme/vllm:1") for version in ("0.24.0", "0.32.0")]
    for name in ("acme/vllm:1", "mirror.local/acme/vllm@sha256:12"):
        read(names_by_image, own[0], name)
        assert read(names_by_image, own[1], name) == [NEW[1].metric_names]


def test_images_that_the_cluster_rewrites_are_told_apart_too() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, "mirror.local/old")
    assert read(names_by_image, NEW, "mirror.local/old", "mirror.local/new") == [
        OLD[1].metric_names,
        NEW[1].metric_names,
    ]


def test_what_no_pod_speaks_any_more_is_forgotten() -> None:
    names_by_image = MetricNamesByImage()
    read(names_by_image, OLD, "mirror.local/old")
    read(names_by_image, NEW)
    assert read(names_by_image, NEW, "mirror.local/old") == [NEW[1].metric_names]


def test_a_pod_without_the_container_is_read_as_planned() -> None:
    assert MetricNamesByImage().of([{"metadata": {"uid": "a"}}], *NEW) == {"a": NEW[1].metric_names}
