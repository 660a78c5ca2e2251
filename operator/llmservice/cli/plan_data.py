"""What `llmservice plan` tells machines."""

from collections.abc import Iterable
from typing import Any

from llmservice.cli.answers import Answer, FileAnswer
from llmservice.cli.findings import Finding
from llmservice.cli.fit_figures import figures_of
from llmservice.converging.redaction import redacted_arguments
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.service_plan import ServicePlan


def as_object(files: Iterable[FileAnswer]) -> dict[str, Any]:
    """One entry for each LLMService, in the order of the files; problems of files as a whole stand beside them."""
    files = list(files)
    return {
        "services": [_service(answer) for file in files for answer in file.answers],
        "problems": [finding_as_object(file.problem) for file in files if file.problem],
        "skipped": sum(len(file.skipped) for file in files),
    }


def finding_as_object(finding: Finding) -> dict[str, Any]:
    """A finding; what it has not is left out."""
    whole = {
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "service": finding.service,
        "severity": finding.severity.value,
        "rule": str(finding.rule),
        "field": finding.field,
        "message": finding.message,
    }
    return {name: value for name, value in whole.items() if value != ""}


def _service(answer: Answer) -> dict[str, Any]:
    head = {
        "service": answer.name,
        "file": answer.file,
        "line": answer.line,
        "verdict": "Refused" if answer.plan is None else "CanRun",
        "findings": [finding_as_object(finding) for finding in answer.findings],
    }
    return head if answer.plan is None else head | _planned(answer.plan)


def _planned(plan: ServicePlan) -> dict[str, Any]:
    """By the names of `status.plan`, as far as that has them; what may be a secret is hidden as there."""
    container = plan.container
    return {
        "engine": plan.engine,
        "engineVersion": plan.engine_version,
        "image": container.image,
        "model": plan.model,
        "names": list(plan.names),
        "accelerator": plan.accelerator,
        "devices": plan.devices,
        "nodes": plan.nodes,
        "resourceName": plan.resource_name,
        "command": list(container.command),
        "args": list(redacted_arguments(container.args)),
        "quantization": plan.quantization,
        "maxModelLen": plan.max_model_len,
        "maxNumSeqs": plan.max_num_seqs,
        "podSecurity": plan.pod_security,
        "defaults": [{"field": each.field, "value": each.value, "reason": each.reason} for each in plan.defaults],
        "notes": list(plan.notes),
        "fit": figures_of(plan.fit) if plan.fit else None,
        "cache": _cache(plan.cache) if plan.cache else None,
    }


def _cache(cache: CachePlan) -> dict[str, Any]:
    """The claim, what is downloaded to it, and how it is made; None for one that exists."""
    owned = cache.owned and {
        "storageClassName": cache.owned.storage_class,
        "size": cache.owned.size,
        "accessModes": list(cache.owned.access_modes),
        "whenDeleted": "Retain" if cache.owned.retained else "Delete",
    }
    download = {"key": cache.request.key, "expectedBytes": cache.expected_bytes, "format": cache.request.format}
    return {"claim": cache.claim, "made": owned, **download}
