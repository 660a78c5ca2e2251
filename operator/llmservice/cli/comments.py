"""What planning chose, as YAML comments: above the manifests that `render` prints."""

from collections.abc import Iterator

from llmservice.cli.answers import Answer
from llmservice.cli.findings import one_line
from llmservice.planning.service_plan import ServicePlan


def comments(answer: Answer, plan: ServicePlan) -> str:
    """One comment on a line, whatever a resource says: no text of it can end the comment."""
    return "".join(f"# {one_line(line)}\n" for line in _lines(answer, plan))


def _lines(answer: Answer, plan: ServicePlan) -> Iterator[str]:
    yield f"{answer.name}: {plan.engine} {plan.engine_version}; chosen where the resource leaves it open:"
    for default in plan.defaults:
        yield f"{default.field}: {default.value} ({default.reason})"
    if plan.fit is not None:
        yield f"fit: {plan.fit.message}"
    for note in plan.notes:
        yield f"note: {note}"
