"""The LLMService of a model on a rung of the ladder."""

from typing import Any

from llmservice.api.v1alpha1.resource import GROUP, KIND, VERSION
from llmservice.catalog.loader import shipped_models
from tools.gallery.row import Row, Rung

TOKEN = {"name": "hub", "key": "token"}
"""Where the token of the hub is expected for models whose licence must be accepted first."""


def manifest(engine: str, row: Row, rung: Rung, *, large: bool) -> dict[str, Any]:
    """The resource, ready to be applied."""
    repository = row.large or row.small if large else row.small
    quantization = row.quantization if not large else ""
    options = {"engineOptions": {"args": list(row.args)}} if row.args else {}
    return {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": KIND,
        "metadata": {"name": resource_name(row, rung)},
        "spec": {
            "engine": engine,
            **options,
            "model": _model(row, repository),
            **({"quantization": quantization} if quantization else {}),
            "gpu": _devices(row, rung),
            "maxModelLen": row.context,
        },
    }


def resource_name(row: Row, rung: Rung) -> str:
    """A name that a Service can have: no dots."""
    return f"{row.name}-{rung.label}".replace(".", "-")


def _devices(row: Row, rung: Rung) -> dict[str, Any]:
    count = {"count": rung.count} if rung.count > 1 else {}
    spread = {"parallelism": {"expert": rung.count}} if row.spread and count else {}
    return {"type": rung.type, **count, **spread}


def _model(row: Row, repository: str) -> dict[str, Any]:
    facts = shipped_models().facts(repository)
    gated = facts is not None and bool(facts.gated)
    token = {"tokenSecretRef": dict(TOKEN)} if gated else {}
    return {"uri": f"hf://{repository}", "names": [row.name], **token}
