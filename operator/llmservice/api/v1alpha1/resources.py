"""CPU, memory and ephemeral storage of a replica."""

from typing import Annotated, ClassVar

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.quantity import Quantity, amount_of

_MEBIBYTE = amount_of("1Mi")


def at_least_a_mebibyte(field: str, name: str, cel: str) -> Rule:
    """Catches `500m` (half a byte) and `8` (eight bytes) where megabytes or gigabytes are meant."""
    return Rule(
        cel=f"!has(self.{cel}) || quantity(string(self.{cel})).compareTo(quantity('1Mi')) >= 0",
        holds=lambda amounts: (value := getattr(amounts, field)) is None or amount_of(value) >= _MEBIBYTE,
        message="is less than 1Mi: amounts are bytes, so write a unit, for example 8Gi",
        field_path=f".{name}" if name.isalpha() else f"['{name}']",
    )


class ResourceAmounts(ApiModel):
    """Amounts of what a node divides among pods. Devices are asked for by `spec.gpu`."""

    cpu: Quantity | None = None
    """CPU in cores: 2, 500m."""
    memory: Quantity | None = None
    """Memory in bytes: 8Gi."""
    ephemeral_storage: Annotated[Quantity | None, Field(alias="ephemeral-storage")] = None
    """Scratch space in bytes: 20Gi."""

    rules: ClassVar = (
        at_least_a_mebibyte("memory", "memory", "memory"),
        at_least_a_mebibyte("ephemeral_storage", "ephemeral-storage", "ephemeral__dash__storage"),
    )
    unknown_field_hint: ClassVar[str] = "devices are asked for by spec.gpu"


def _fits(field: str, name: str, cel: str) -> Rule:
    def holds(resources: "Resources") -> bool:
        request, limit = getattr(resources.requests, field), getattr(resources.limits, field)
        return request is None or limit is None or amount_of(request) <= amount_of(limit)

    asked, allowed = f"self.requests.{cel}", f"self.limits.{cel}"
    return Rule(
        cel=f"!has(self.requests) || !has(self.limits) || !has({asked}) || !has({allowed})"
        f" || quantity(string({asked})).compareTo(quantity(string({allowed}))) <= 0",
        holds=holds,
        message="is more than the limit: lower the request, or raise the limit",
        field_path=f".requests.{name}" if name.isalpha() else f".requests['{name}']",
    )


class Resources(ApiModel):
    """What a replica is given (requests) and may use (limits)."""

    requests: ResourceAmounts = ResourceAmounts()
    """Amounts set aside on the node. Omitted: computed."""
    limits: ResourceAmounts = ResourceAmounts()
    """Amounts that may not be exceeded. Omitted: none."""

    rules: ClassVar = (
        _fits("cpu", "cpu", "cpu"),
        _fits("memory", "memory", "memory"),
        _fits("ephemeral_storage", "ephemeral-storage", "ephemeral__dash__storage"),
    )
