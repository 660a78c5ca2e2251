"""Claims and the services that would use them, with what is wrong."""

from dataclasses import dataclass, field
from typing import Any

from llmservice.objects.references import Manifest
from llmservice.planning.service_plan import ServicePlan
from tests.builders import with_changes
from tests.unit.planning.planned import planned

_GB = 10**9
_ONE: dict[str, Any] = {"spec__rollout__strategy": "Replace"}
_TWO: dict[str, Any] = {"spec__replicas": 2, **_ONE}
_AUTO: dict[str, Any] = {"spec__rollout__strategy": "Auto"}
_SURGE: dict[str, Any] = {"spec__rollout__strategy": "Surge"}


def a_claim(*modes: str, **changes: Any) -> Manifest:
    """A claim of 100 GB that is bound."""
    claim = {
        "metadata": {"name": "weights"},
        "spec": {
            "accessModes": list(modes),
            "resources": {"requests": {"storage": "100G"}},
            "volumeMode": "Filesystem",
        },
        "status": {"phase": "Bound", "capacity": {"storage": "100G"}},
    }
    return with_changes(claim, changes)


def a_volume(key: str, *values: str) -> Manifest:
    """A volume that is where a label of nodes has one of these values."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    return {"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}}}


@dataclass(frozen=True)
class Case:
    """A claim, what is known of its volume, and what the service wants; `found` is (reason, whether it refuses)."""

    name: str
    claim: Manifest
    found: tuple[tuple[str, bool], ...] = ()
    says: tuple[str, ...] = ()
    service: dict[str, Any] = field(default_factory=lambda: _ONE)
    volume: Manifest | None = None
    gigabytes: int = 61

    def plan(self) -> ServicePlan:
        """The plan of the service, with the claim as its cache."""
        model = {
            "uri": "hf://acme/chat",
            "cache": {"claim": {"name": "weights"}},
            "facts": {"fileBytes": self.gigabytes * _GB},
        }
        spec = {"spec__engine": "vllm", "spec__gpu": {"type": "H100"}, "spec__model": model, **self.service}
        return planned(**spec)


_HOST, _ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_REFUSED, _TOLD = ("ClaimAccess", True), ("ClaimAccess", False)

CASES = (
    Case("a claim for one node and one replica", a_claim("ReadWriteOnce")),
    Case("for one node, by free devices", a_claim("ReadWriteOnce"), (_TOLD,), ("Replace",), _AUTO),
    Case("for one pod, by free devices", a_claim("ReadWriteOncePod"), (_TOLD,), ("Replace",), _AUTO),
    Case("a claim for many nodes and two replicas", a_claim("ReadWriteMany"), service=_TWO),
    Case("a claim for one pod and one replica", a_claim("ReadWriteOncePod")),
    Case("for one node, two replicas", a_claim("ReadWriteOnce"), (_TOLD,), ("ReadWriteOnce", "2"), _TWO),
    Case("for one node, new before old", a_claim("ReadWriteOnce"), (_TOLD,), ("spec.rollout.strategy",), _SURGE),
    Case("for one pod, two replicas", a_claim("ReadWriteOncePod"), (_REFUSED,), ("ReadWriteOncePod", "2"), _TWO),
    Case("for one pod, new before old", a_claim("ReadWriteOncePod"), (_REFUSED,), ("Replace",), _SURGE),
    Case("for readers", a_claim("ReadOnlyMany"), (_REFUSED,), ("ReadOnlyMany", "ReadWriteMany")),
    Case("for one writer and many readers", a_claim("ReadWriteOnce", "ReadOnlyMany"), service=_TWO),
    Case(
        "that is being deleted",
        a_claim("ReadWriteMany", metadata__deletionTimestamp="2026-01-02T03:04:05Z"),
        (_REFUSED,),
        ("weights",),
    ),
    Case("that lost its volume", a_claim("ReadWriteMany", status__phase="Lost"), (_REFUSED,), ("PersistentVolume",)),
    Case("that is a raw device", a_claim("ReadWriteMany", spec__volumeMode="Block"), (_REFUSED,), ("Filesystem",)),
    Case(
        "that is too small",
        a_claim("ReadWriteOnce", status__capacity__storage="50G"),
        (("ClaimTooSmall", True),),
        ("50.0 GB", "61.0 GB"),
    ),
    Case(
        "that is not bound yet and asks for too little",
        a_claim("ReadWriteOnce", status=None, spec__resources__requests__storage="50G"),
        (("ClaimTooSmall", True),),
        ("50.0 GB", "61.0 GB"),
    ),
    Case(
        "of a shared file system, whose number may mean nothing",
        a_claim("ReadWriteMany", status__capacity__storage="5Gi"),
        (("ClaimTooSmall", False),),
        ("5.4 GB", "61.0 GB"),
    ),
    Case("of a size nobody gave", a_claim("ReadWriteOnce", status=None, spec__resources=None)),
    Case("of a size beyond all", a_claim("ReadWriteMany", status__capacity__storage="8E")),
    Case("on the host of its replica", a_claim("ReadWriteOnce"), volume=a_volume(_HOST, "gpu-1")),
    Case(
        "on one host, two replicas",
        a_claim("ReadWriteMany"),
        (_TOLD,),
        ("gpu-1", "2"),
        _TWO,
        volume=a_volume(_HOST, "gpu-1"),
    ),
    Case("on two hosts, two replicas", a_claim("ReadWriteMany"), service=_TWO, volume=a_volume(_HOST, "a", "b")),
    Case("in a zone, two replicas", a_claim("ReadWriteMany"), service=_TWO, volume=a_volume(_ZONE, "a")),
    Case(
        "of another service",
        a_claim(
            "ReadWriteMany",
            metadata__ownerReferences=[
                {
                    "apiVersion": "llmservice.dev/v1alpha1",
                    "kind": "LLMService",
                    "name": "a",
                    "uid": "1",
                    "controller": True,
                }
            ],
        ),
        (_TOLD,),
        ("LLMService a", "goes with it"),
    ),
    Case(
        "with everything wrong",
        a_claim("ReadWriteOnce", status={"phase": "Lost", "capacity": {"storage": "1G"}}),
        (_REFUSED, ("ClaimTooSmall", True), _TOLD),
        service=_TWO,
    ),
    Case("of another form", {"metadata": None, "spec": {"accessModes": None}, "status": {"capacity": None}}),
)
