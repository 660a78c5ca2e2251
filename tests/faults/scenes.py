"""What a user does while something goes wrong. Resources without pods: all that is tested is what the operator does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service


def a_service_without_pods(**spec: Any) -> Body:
    """Suspended: every child and every status, and no pod to wait for."""
    return a_tiny_service(suspend=True, replicas=2, **spec)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a user does: `before` in peace, `act` while it goes wrong."""

    name: str
    act: Callable[[Kube], object]
    before: Callable[[Kube], object] = lambda _: None

    def __str__(self) -> str:
        return self.name


def _create(kube: Kube) -> None:
    kube.create(a_service_without_pods())


def _settled(kube: Kube) -> None:
    _create(kube)
    kube.wait_ready("chat", reason="Suspended")


def _edit(**spec: Any) -> Callable[[Kube], object]:
    return lambda kube: kube.patch("LLMService", "chat", {"spec": spec})


def _delete(kube: Kube) -> None:
    kube.delete("LLMService", "chat")


def _recreate(kube: Kube) -> None:
    _delete(kube)
    _create(kube)


CREATE = Scene("create", _create)
SCALE = Scene("scale to one", _edit(replicas=1), _settled)
"""The budget for disruptions goes: the operator's only DELETE."""

OWN_IMAGE = {"version": "b11312", "image": "registry.example/own:1"}
IMAGE = Scene("change the image", _edit(engineOptions=OWN_IMAGE), _settled)
DELETE = Scene("delete", _delete, _settled)
RECREATE = Scene("delete and create again", _recreate, _settled)
REMOVE_CHILD = Scene("somebody deletes the Deployment", lambda kube: kube.delete("Deployment", "chat"), _settled)
SCENES = (CREATE, SCALE, IMAGE, DELETE, RECREATE, REMOVE_CHILD)
