"""How long a gateway waits for an answer, in durations of the Gateway API (GEP-2257)."""

from typing import Annotated, ClassVar

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.text import Form
from llmservice.untrusted.patterns import finder

OF_THE_GATEWAY = "Default"
"""Said instead of a duration: the route says nothing, and the gateway does as it is configured."""
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PART = finder(r"(?P<number>[0-9]+)(?P<unit>ms|h|m|s)")

Duration = Annotated[
    str,
    Field(min_length=2, max_length=32),
    Form(
        r"([0-9]{1,5}(h|m|s|ms)){1,4}|" + OF_THE_GATEWAY,
        "is not a duration of the Gateway API: write 90s, 1h30m, 0s for no limit, or Default for the gateway's own",
    ),
]


class RouteTimeouts(ApiModel):
    """How long the gateway waits. A streamed answer takes as long as it has tokens."""

    request: Duration = "0s"
    """For the whole answer, its last token included. 0s: without limit. Default: as the gateway is configured, which is
    15 s on some."""
    backend_request: Duration | None = None
    """For one try with a replica; at most `request`. Omitted: as the gateway is configured."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.backendRequest) || !has(self.request)"
            f" || '{OF_THE_GATEWAY}' in [self.request, self.backendRequest]"
            " || duration(self.request) == duration('0s')"
            " || duration(self.backendRequest) <= duration(self.request)",
            holds=lambda timeouts: _is_within(timeouts.backend_request, timeouts.request),
            message="is longer than request, which includes it: lower it, or raise request",
            field_path=".backendRequest",
        ),
    )


def _is_within(inner: str | None, outer: str) -> bool:
    if inner is None or OF_THE_GATEWAY in {inner, outer} or seconds_of(outer) == 0:
        return True
    return seconds_of(inner) <= seconds_of(outer)


def seconds_of(duration: str) -> float:
    """The seconds of a well-formed duration."""
    return sum(int(part["number"]) * _SECONDS[part["unit"]] for part in _PART.each(duration))
