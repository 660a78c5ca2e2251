"""What a Job holds, by its parts."""

from typing import Any

from llmservice.objects.references import Manifest


def pod(found: Manifest) -> Manifest:
    spec: Manifest = found["spec"]["template"]["spec"]
    return spec


def container(found: Manifest) -> Manifest:
    (only,) = pod(found)["containers"]
    return dict(only)


def variables(found: Manifest) -> dict[str, Any]:
    return {one["name"]: one.get("value", one.get("valueFrom")) for one in container(found).get("env", ())}
