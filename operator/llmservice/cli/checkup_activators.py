"""What `llmservice doctor` says of activators: whether some hold the requests of services that may sleep."""

from collections.abc import Iterable

from llmservice.cli.checkup import Finding, Grade, Hidden
from llmservice.cli.plural import counted
from llmservice.converging.activation import may_sleep
from llmservice.objects.pods import is_ready
from llmservice.objects.references import Manifest

_LABEL = "app.kubernetes.io/component=activator"
SELECTOR = f"{_LABEL},app.kubernetes.io/part-of=llmservice"
"""Of their pods, in the operator's namespace."""
_ABOUT = "activators"


def of_activators(pods: Iterable[Manifest] | Hidden | None, services: Iterable[Manifest], namespace: str) -> Finding:
    """`pods` are those of activators, in the operator's `namespace`."""
    if isinstance(pods, Hidden):
        return Finding(about=_ABOUT, grade=Grade.UNKNOWN, message=pods.why)
    found, sleepers = list(pods or ()), sum(map(may_sleep, services))
    ready, asking = sum(map(is_ready, found)), f"{counted(sleepers, 'LLMService')} with minReplicas 0"
    if ready:
        return Finding(about=_ABOUT, grade=Grade.OK, message=f"{ready} of {len(found)} ready")
    if not sleepers:
        said = "none is ready" if found else "none is there"
        return Finding(about=_ABOUT, grade=Grade.OK, message=f"{said}; nothing asks for one")
    if found:
        why = f"none of {len(found)} is ready; see: kubectl -n {namespace} describe pods -l {_LABEL}"
    else:
        why = f"none is there; see: kubectl -n {namespace} get deployment llmservice-activator, or install it"
    message = f"{why}. Nothing holds the requests of {asking}: those that sleep are reached by nobody"
    return Finding(about=_ABOUT, grade=Grade.WRONG, message=message)
