"""EndpointSlices as the activator reads them: the services it listens for, their replicas, and who has which port."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from llmservice.objects.endpoint_slices import port_of
from llmservice.objects.names import (
    ACTIVATION_ANNOTATION,
    LONGEST_ACTIVATION,
    SERVICE_NAME_LABEL,
    SLICE_MANAGER,
    SLICE_MANAGER_LABEL,
)
from llmservice.objects.references import Manifest

_MOST_ENDPOINTS = 1000
"""As many as Kubernetes allows in one slice."""


class Activation(BaseModel):
    """What the operator says of a service: its models' names, and bounds.

    `concurrency`: requests sent at once to each replica. `start_seconds`: how long its last start took.
    `max_wait_seconds` and `max_held` stand where the resource sets them. `trouble` is the reason why no replica becomes
    ready, and of a `hopeless` one no time helps.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, extra="ignore", strict=True)

    models: tuple[Annotated[str, Field(max_length=512)], ...] = Field(default=(), max_length=64, strict=False)
    concurrency: int = Field(default=16, ge=1, le=65_536)
    start_seconds: float | None = Field(default=None, ge=0, le=86_400)
    max_wait_seconds: float | None = Field(default=None, gt=0, le=86_400)
    max_held: int | None = Field(default=None, ge=1, le=1_000_000)
    trouble: str = Field(default="", max_length=64)
    hopeless: bool = False


@dataclass(frozen=True, slots=True, order=True)
class Replica:
    """Where a ready replica answers."""

    address: str
    port: int

    @property
    def origin(self) -> str:
        """Scheme, host and port of its URLs."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A service that has a port here. `in_path`: whether its Service leads here now.

    `since` is when its slice was made, and `uid` the slice's, for who has a port that two name.
    """

    namespace: str
    name: str
    uid: str
    since: str
    port: int
    in_path: bool
    activation: Activation = field(default_factory=Activation)
    replicas: tuple[Replica, ...] = ()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def kept_of_slice(manifest: Manifest) -> Manifest:
    """The part of an EndpointSlice that is read here."""
    given = manifest["metadata"]
    labels, annotations = given.get("labels") or {}, given.get("annotations") or {}
    metadata = {
        **{
            key: given[key]
            for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
            if key in given
        },
        "labels": {key: labels[key] for key in (SERVICE_NAME_LABEL, SLICE_MANAGER_LABEL) if key in labels},
        "annotations": {key: annotations[key] for key in (ACTIVATION_ANNOTATION,) if key in annotations},
    }
    return {
        **{key: manifest[key] for key in ("apiVersion", "kind", "addressType") if key in manifest},
        "metadata": metadata,
        "ports": (manifest.get("ports") or [])[:16],
        "endpoints": [_endpoint(each) for each in (manifest.get("endpoints") or [])[:_MOST_ENDPOINTS]],
    }


def served(slices: Iterable[Manifest]) -> tuple[dict[int, Served], tuple[Served, ...]]:
    """Who has which port, and who goes without one because an older slice names the same."""
    ours: list[Manifest] = []
    others: dict[tuple[str, str], list[Manifest]] = {}
    for each in slices:
        if _labels(each).get(SLICE_MANAGER_LABEL) == SLICE_MANAGER:
            ours.append(each)
        else:
            others.setdefault(_service(each), []).append(each)
    known = [found for each in ours if (found := _served(each, others.get(_service(each), ())))]
    by_port: dict[int, Served] = {}
    for one in sorted(known, key=lambda each: (each.since, each.uid)):
        by_port.setdefault(one.port, one)
    return by_port, tuple(one for one in known if by_port[one.port] is not one)


def _served(ours: Manifest, others: Sequence[Manifest]) -> Served | None:
    number = port_of(ours)
    if number is None or not _service(ours)[1]:
        return None
    port_name = ours["ports"][0].get("name") or ""
    metadata = ours["metadata"]
    family = ours.get("addressType")
    siblings = [each for each in others if each.get("addressType") == family]
    return Served(
        namespace=metadata.get("namespace", ""),
        name=_service(ours)[1],
        uid=metadata.get("uid", ""),
        since=metadata.get("creationTimestamp") or "",
        port=number,
        in_path=bool(ours["endpoints"]),
        activation=_activation(metadata["annotations"].get(ACTIVATION_ANNOTATION, "")),
        replicas=tuple(sorted({replica for each in siblings for replica in _ready(each, port_name)})),
    )


def _activation(text: str) -> Activation:
    """What the annotation says; the defaults where it says nothing usable."""
    try:
        return Activation.model_validate_json(text if len(text) <= LONGEST_ACTIVATION else "{}")
    except ValidationError:
        return Activation()


def _ready(of_service: Manifest, port_name: str) -> Iterable[Replica]:
    port = next((each["port"] for each in of_service["ports"] if (each.get("name") or "") == port_name), None)
    return (Replica(each["address"], port) for each in of_service["endpoints"] if each["ready"]) if port else ()


def _endpoint(endpoint: Mapping[str, Any]) -> Mapping[str, Any]:
    """One address and whether it is ready; where nobody says, it is (EndpointConditions.ready)."""
    ready = (endpoint.get("conditions") or {}).get("ready")
    address = next(iter(endpoint.get("addresses") or ()), "")
    return {"address": address, "ready": bool(address) and ready is not False}


def _labels(of: Manifest) -> Mapping[str, str]:
    labels: Mapping[str, str] = of["metadata"]["labels"]
    return labels


def _service(of: Manifest) -> tuple[str, str]:
    return of["metadata"].get("namespace", ""), _labels(of).get(SERVICE_NAME_LABEL, "")
