"""What the devices of a service did and cost: `status.cost`."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel

_Seconds = Annotated[int, Field(strict=True, ge=0, le=2**53)]
_SignedSeconds = Annotated[int, Field(strict=True, ge=-(2**53), le=2**53)]
_Money = Annotated[str, Field(max_length=32, pattern=r"^[0-9]+\.[0-9]{2,4}$")]
_Name = Annotated[str, Field(max_length=317)]


class DeviceSeconds(ApiModel):
    """Device-seconds of one kind of device on one day, by what the devices did."""

    accelerator: _Name = ""
    """Accelerator type. Empty: not known."""
    resource: _Name
    """Resource that pods ask for it by."""
    per_hour: _Money | None = None
    """Price of one. Omitted: none is set."""
    busy_seconds: _Seconds
    """The replica was ready and had requests."""
    idle_seconds: _Seconds
    """The replica was ready and had no request."""
    starting_seconds: _Seconds
    """The replica was not ready."""
    unknown_seconds: _Seconds
    """The replica could not be read."""
    asleep_seconds: _SignedSeconds
    """What sleeping at zero replicas would have saved, less the starts that would have ended each sleep."""


class DayOfDevices(ApiModel):
    """One day."""

    date: Annotated[str, Field(max_length=10, pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
    """The day, in the time zone of the prices."""
    devices: Annotated[tuple[DeviceSeconds, ...], Field(max_length=8)] = ()
    """By kind of device."""


class CostStatus(ApiModel):
    """What the devices of the replicas did and cost, today and yesterday, as it was counted last.

    Amounts are by the prices in the administrators' catalogue of that moment, and left out where there are none.
    """

    devices: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
    """Devices held by pods."""
    currency: Annotated[str, Field(max_length=3)] | None = None
    """Currency of the amounts."""
    per_hour: _Money | None = None
    """What these devices cost per hour."""
    today: _Money | None = None
    """What was spent today."""
    yesterday: _Money | None = None
    """What was spent yesterday."""
    idle: _Money | None = None
    """Of today, while ready replicas had no request."""
    zero_would_save: _Money | None = None
    """Of today, what sleeping at zero replicas would have saved."""
    unpriced: Annotated[tuple[_Name, ...], Field(max_length=8)] = ()
    """Types in use without a price: the amounts leave them out."""
    idle_share_percent: Annotated[int, Field(strict=True, ge=0, le=100)] | None = None
    """Of today's device-seconds, those in which a ready replica had no request."""
    time_zone: Annotated[str, Field(max_length=64)] | None = None
    """Time zone of the days. Omitted: UTC."""
    counted_until: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
    """When it was counted last."""
    days: Annotated[tuple[DayOfDevices, ...], Field(max_length=2)] = ()
    """Today and yesterday, in device-seconds."""
