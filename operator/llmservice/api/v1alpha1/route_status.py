"""Where clients outside the cluster reach a service, as a type: `status.route`."""

from typing import Annotated

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel


class RouteStatus(ApiModel):
    """Where the route leads from. Whether it does is told by the condition RouteReady."""

    addresses: Annotated[tuple[Annotated[str, Field(max_length=512)], ...], Field(max_length=16)]
    """Base URLs of the API without scheme and port, which are the Gateway's. Without hostnames: the path alone."""
    gateways: Annotated[tuple[Annotated[str, Field(max_length=640)], ...], Field(max_length=8)] = ()
    """Gateways that accepted the route."""
