"""What `llmservice doctor` makes of a cluster: a finding for each thing that has to be right, with the way out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from llmservice import __version__
from llmservice.api.crd import crd_manifest
from llmservice.cli.plural import counted
from llmservice.cli.program import program
from llmservice.cli.service_state import is_reached
from llmservice.converging.spans import span
from llmservice.engines.registry import ENGINES
from llmservice.objects.names import OPERATOR
from llmservice.objects.references import Manifest
from llmservice.untrusted.patterns import compiled

OLDEST = (1, 30)
"""The oldest Kubernetes that the chart installs on."""
_VERSION = compiled(r"(?P<number>[0-9]{1,3})\+?")
_STALE_SECONDS = 60.0
_TAG = compiled(r"(?s).*:v?(?P<tag>[0-9]+\.[0-9]+\.[0-9]+[^@:]*)(@.*)?")


class Grade(StrEnum):
    """How a check went."""

    OK = "ok"
    LOOK = "look"
    """It works, and somebody should know this."""
    WRONG = "wrong"
    UNKNOWN = "?"
    """The caller may not see it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: what was looked at, how it went, and what to do."""

    about: str
    grade: Grade
    message: str


@dataclass(frozen=True, slots=True)
class Hidden:
    """What could not be read, and why."""

    why: str


def of_kubernetes(version: Mapping[str, Any]) -> Finding:
    """The API server's version."""
    found = [_VERSION.whole(str(version.get(part, ""))) for part in ("major", "minor")]
    numbers = tuple(int(match["number"]) for match in found if match)
    told, least = str(version.get("gitVersion", "of an unknown version"))[:64], ".".join(map(str, OLDEST))
    if len(numbers) == len(OLDEST) and numbers < OLDEST:
        return Finding(about="Kubernetes", grade=Grade.WRONG, message=f"{told} is too old: upgrade to {least} or newer")
    return Finding(about="Kubernetes", grade=Grade.OK, message=told)


def of_crd(crd: Manifest | Hidden | None) -> Finding:
    """The CustomResourceDefinition against the one of this command."""
    install = "install it: llmservice crd | kubectl apply --server-side -f -"
    if isinstance(crd, Hidden):
        return Finding(about="CRD", grade=Grade.UNKNOWN, message=crd.why)
    if crd is None:
        return Finding(about="CRD", grade=Grade.WRONG, message=f"is not there; {install}")
    if _fields(crd) - _fields(crd_manifest(ENGINES)):
        message = (
            f"has fields that llmservice {__version__} does not know; use the llmservice of the operator's version"
        )
        return Finding(about="CRD", grade=Grade.LOOK, message=message)
    if missing := sorted(_fields(crd_manifest(ENGINES)) - _fields(crd)):
        message = f"lacks {counted(len(missing), 'field')} of llmservice {__version__}, such as {missing[0]}; {install}"
        return Finding(about="CRD", grade=Grade.LOOK, message=message)
    return Finding(about="CRD", grade=Grade.OK, message=f"has the fields of llmservice {__version__}")


def of_operator(
    lease: Manifest | Hidden | None,
    pod: Manifest | Hidden | None,
    now: datetime,
    namespace: str,
    services: Iterable[Manifest] = (),
) -> Iterator[Finding]:
    """Who leads, whether it is alive, its version; without a Lease, whether `services` show that one is elsewhere."""
    if isinstance(lease, Hidden):
        yield Finding(about="operator", grade=Grade.UNKNOWN, message=lease.why)
        return
    if lease is None:
        yield _without_lease(list(services), now, namespace)
        return
    yield _of_lease(lease, now, namespace)
    if isinstance(pod, dict):
        yield _of_image(pod)


def of_rights(allowed: Mapping[str, bool], namespace: str) -> Finding:
    """What the caller may do; `allowed` maps verbs on LLMServices to whether they are."""
    missing = [verb for verb, may in allowed.items() if not may]
    if not missing:
        return Finding(about="rights", grade=Grade.OK, message=f"you may {', '.join(allowed)} those of {namespace}")
    message = f"you may not {', '.join(missing)} those of {namespace}: the role edit there has these rights"
    return Finding(about="rights", grade=Grade.LOOK, message=message)


def of_services(services: Iterable[Manifest] | Hidden) -> Finding:
    """How many are as declared."""
    if isinstance(services, Hidden):
        return Finding(about="LLMServices", grade=Grade.UNKNOWN, message=services.why)
    reached = [is_reached(service) for service in services]
    if all(reached):
        return Finding(about="LLMServices", grade=Grade.OK, message=f"{len(reached)}, all Ready" if reached else "none")
    message = f"{reached.count(False)} of {len(reached)} are not Ready; see: {program()} status -A"
    return Finding(about="LLMServices", grade=Grade.LOOK, message=message)


def _fields(crd: Manifest) -> set[str]:
    """The paths of the fields of spec."""
    versions = (crd.get("spec") or {}).get("versions") or [{}]
    schema = (versions[0].get("schema") or {}).get("openAPIV3Schema") or {}
    return set(_paths((schema.get("properties") or {}).get("spec") or {}, "spec"))


def _paths(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, field in (schema.get("properties") or {}).items():
        yield f"{path}.{name}"
        yield from _paths(field.get("items") or field, f"{path}.{name}")


def _without_lease(services: list[Manifest], now: datetime, namespace: str) -> Finding:
    """An operator outside of the cluster, or in another namespace, is known by what it wrote."""
    where = f"has no Lease in namespace {namespace}"
    if services and all(_is_observed(service) for service in services):
        written = max((at for service in services if (at := _written_at(service))), default="")
        ago = (
            f", {span((now - datetime.fromisoformat(written)).total_seconds())} ago for the last time"
            if written
            else ""
        )
        message = (
            f"{where}, but one has looked at every LLMService{ago}: it runs outside the cluster, or in another "
            "namespace: name that with --operator-namespace"
        )
        return Finding(about="operator", grade=Grade.LOOK, message=message)
    message = f"{where}: nothing decides about LLMServices; install it, or name its namespace with --operator-namespace"
    return Finding(about="operator", grade=Grade.WRONG, message=message)


def _is_observed(service: Manifest) -> bool:
    return bool((service.get("status") or {}).get("observedGeneration") == service["metadata"].get("generation"))


def _written_at(service: Manifest) -> str:
    """When the operator wrote the status last; empty where that is not told."""
    entries = service["metadata"].get("managedFields") or ()
    ours = (each for each in entries if each.get("manager") == OPERATOR and each.get("subresource") == "status")
    return max((str(each.get("time") or "") for each in ours), default="")


def _of_lease(lease: Manifest, now: datetime, namespace: str) -> Finding:
    spec = lease.get("spec") or {}
    holder, at = str(spec.get("holderIdentity") or "")[:253], str(spec.get("renewTime") or "")
    if not holder:
        message = f"nobody holds its Lease: see kubectl -n {namespace} get pods"
        return Finding(about="operator", grade=Grade.WRONG, message=message)
    silent = (now - datetime.fromisoformat(at)).total_seconds() if at else 0.0
    if silent > _STALE_SECONDS:
        message = f"{holder} did not renew its Lease for {silent:.0f} s: see kubectl -n {namespace} get pods"
        return Finding(about="operator", grade=Grade.WRONG, message=message)
    return Finding(about="operator", grade=Grade.OK, message=f"{holder} leads")


def _of_image(pod: Manifest) -> Finding:
    containers: list[Manifest] = (pod.get("spec") or {}).get("containers") or [{}]
    image = str(containers[0].get("image", ""))[:512]
    found = _TAG.whole(image)
    if found and found["tag"] != __version__:
        message = f"is {found['tag']}, this command {__version__}: what it plans and renders may differ; use the same"
        return Finding(about="operator", grade=Grade.LOOK, message=message)
    return Finding(about="operator", grade=Grade.OK, message=f"runs {image}")
