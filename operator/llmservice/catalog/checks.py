"""Validates catalogue rows: what the API server would reject in every pod is refused when the row is read."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

from llmservice.api.v1alpha1.problems import problems_of
from llmservice.api.v1alpha1.scheduling import NodeRequirement, Toleration
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.metrics import METRIC_ROLES, Series
from llmservice.catalog.support_checks import check_support
from llmservice.errors import InvalidCatalogue
from llmservice.untrusted.patterns import compiled

_IMAGE = compiled(r"[a-z0-9][\w.-]*(:\d+)?(/[\w.-]+)*(:[\w][\w.-]*)?(@sha256:[0-9a-f]{64})?")
_RESOURCE = compiled(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-\w.]*[A-Za-z0-9])?")
_LABEL_VALUE = compiled(r"[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?")
_SECCOMP = ("RuntimeDefault", "Unconfined")
_LARGEST_ID = 2**31 - 1
_MADE_ON_LOAD = "online-"
"""The prefix of online quantizations, which an engine makes of an unquantized checkpoint."""


def checked_version(version: EngineVersion, where: str) -> EngineVersion:
    """The version, if it is valid; raises InvalidCatalogue naming file, row and field."""
    for variant, image in version.images.items():
        if not _IMAGE.matches(image):
            raise InvalidCatalogue(
                where, f"images: {variant}: {image!r} is not an image reference; write registry/name:tag"
            )
    for name, least in (("user", 0), ("group", 0), ("max_model_len", 0), ("max_num_seqs", 1)):
        number = getattr(version, name)
        if not least <= number <= _LARGEST_ID:
            raise InvalidCatalogue(where, f"{name}: {number} is not a number from {least} to {_LARGEST_ID}")
    for name in version.quantizations:
        if name.startswith(_MADE_ON_LOAD) and name not in version.on_load:
            message = f"quantizations: {name} has no entry in on_load; add the engine's name for it"
            raise InvalidCatalogue(where, message)
    _check_metrics(version.metrics, where)
    check_support(version, where)
    return version


def check_tolerations(tolerations: Iterable[Any], where: str) -> None:
    """Accept valid tolerations; raises InvalidCatalogue."""
    for number, toleration in enumerate(tolerations):
        if problems := toleration_problems(toleration):
            raise InvalidCatalogue(where, f"tolerations[{number}]: {problems[0]}")


def toleration_problems(toleration: Any) -> list[str]:
    """The problems of a toleration, one line each, beginning with the field."""
    try:
        Toleration.model_validate(toleration)
    except ValidationError as error:
        return [problem.removeprefix(": ") for problem in problems_of(error, Toleration)]
    return []


def check_requirements(requirements: Iterable[Any], where: str) -> None:
    """Accept valid requirements on nodes; raises InvalidCatalogue."""
    for requirement in requirements:
        try:
            NodeRequirement.model_validate(requirement)
        except ValidationError as error:
            raise InvalidCatalogue(where, f"{requirement}: {problems_of(error, NodeRequirement)[0]}") from None


def is_resource_name(name: str) -> bool:
    """Whether a device's resource may have this name."""
    return _RESOURCE.matches(name)


def check_resource_name(name: str, where: str) -> None:
    """Accept a valid name of a device resource; raises InvalidCatalogue."""
    if not is_resource_name(name):
        raise InvalidCatalogue(where, f"resource_name: {name!r} is not a resource name; write domain/name")


def check_seccomp_profile(profile: str, where: str) -> None:
    """Accept a seccomp profile that needs no file on the node; raises InvalidCatalogue."""
    if profile not in _SECCOMP:
        raise InvalidCatalogue(where, f"seccomp_profile: {profile!r} must be one of {', '.join(_SECCOMP)}")


def check_label_values(labels: Mapping[str, Iterable[str]], where: str) -> None:
    """Accept valid label values; raises InvalidCatalogue."""
    for column, values in labels.items():
        for value in values:
            if not _LABEL_VALUE.matches(value):
                raise InvalidCatalogue(where, f"labels: {column}: {value!r} is not a label value")


def _check_metrics(metrics: Mapping[str, str], where: str) -> None:
    for role, written in metrics.items():
        if role not in METRIC_ROLES:
            raise InvalidCatalogue(where, f"metrics: {role} is not a role; known roles: {', '.join(METRIC_ROLES)}")
        try:
            Series.parse(written)
        except ValueError as error:
            raise InvalidCatalogue(where, f"metrics: {role}: {error}") from error
