"""A service that may sleep, and how it is brought to zero."""

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from llmservice.objects.endpoint_slices import slice_name
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service

SHORTEST_IDLE_SECONDS = 60
SLOTS = 4


def a_sleeper(name: str = "chat", *, most: int = 1, **autoscaling: Any) -> Body:
    """It sleeps as soon as the API allows."""
    return a_tiny_service(
        name,
        maxNumSeqs=SLOTS,
        autoscaling={
            "minReplicas": 0,
            "maxReplicas": most,
            "idle": {"afterSeconds": SHORTEST_IDLE_SECONDS},
            **autoscaling,
        },
    )


def await_sleep(kube: Kube, name: str = "chat", seconds: float = 180) -> Body:
    """Until it sleeps and no pod of it is left."""
    body = kube.wait_ready(name, "Asleep", seconds)
    label = f"llmservice.dev/name={name}"
    kube.wait(lambda: not kube.list("Pod", label) or None, lambda: kube.list("Pod", label), 60)
    return body


def activators_in_path(kube: Kube, name: str = "chat") -> int:
    """How many activators are endpoints of its Service."""
    found = kube.get("EndpointSlice", slice_name(name))
    return len((found or {}).get("endpoints") or ())


def starts(kube: Kube, name: str = "chat") -> int:
    """How often it was scaled up from nothing, by its Events."""
    mine = {"kind": "LLMService", "name": name}
    events = [item for item in kube.list("Event") if mine.items() <= item["involvedObject"].items()]
    return sum(item["reason"] == "ScaledUp" and item["message"].startswith("0 →") for item in events)


def sampled(page: str, series: str, kube: Kube, name: str = "chat") -> float | None:
    """The value of a series of this service on the operator's page; None where it is not there.

    Services of earlier tests may still be on it: their namespaces go once their pods have drained.
    """
    labels = {"namespace": kube.namespace, "name": name}
    samples = (sample for family in text_string_to_metric_families(page) for sample in family.samples)
    return next((each.value for each in samples if each.name == series and each.labels == labels), None)
