"""What `llmservice doctor` says of routes: whether the cluster has the kind that `spec.route` needs."""

from collections.abc import Iterable, Mapping
from typing import Any

from llmservice.cli.checkup import Finding, Grade, Hidden
from llmservice.cli.plural import counted
from llmservice.cluster.kinds import KINDS
from llmservice.objects.references import Manifest

_KIND = KINDS["HTTPRoute"]
RESOURCES = f"/apis/{_KIND.api_version}"
"""Where the API server lists the kinds of that group; 404 where it has none."""
_ABOUT = "Gateway API"


def of_routes(resources: Mapping[str, Any] | Hidden | None, services: Iterable[Manifest]) -> Finding:
    """`resources` are what the API server knows of the group; None where there is none."""
    if isinstance(resources, Hidden):
        return Finding(about=_ABOUT, grade=Grade.UNKNOWN, message=resources.why)
    known = [item.get("name") for item in (resources or {}).get("resources") or ()]
    if _KIND.plural in known:
        return Finding(about=_ABOUT, grade=Grade.OK, message=f"{_KIND.kind}s are known")
    asking = sum("route" in (service.get("spec") or {}) for service in services)
    if not asking:
        return Finding(about=_ABOUT, grade=Grade.OK, message="not installed; nothing asks for it")
    message = (
        f"not installed, and {counted(asking, 'LLMService')} with spec.route: install its CRDs and a controller "
        "(https://gateway-api.sigs.k8s.io/guides/#installing-gateway-api)"
    )
    return Finding(about=_ABOUT, grade=Grade.LOOK, message=message)
