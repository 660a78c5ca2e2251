"""The operator as its next version might be: the next rendering gives every pod one field more. Run as a module."""

from llmservice.converging import updates
from llmservice.objects.references import Manifest
from llmservice.planning import facts
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering import deployment, pod

NEXT = RENDER_VERSION + 1
NEW_FIELD = ("terminationGracePeriodSeconds", 777)


def template(plan: ServicePlan) -> Manifest:
    """The pod template of both versions."""
    made = pod.pod_template(plan)
    return made if plan.render_version < NEXT else {**made, "spec": {**made["spec"], NEW_FIELD[0]: NEW_FIELD[1]}}


if __name__ == "__main__":
    setattr(deployment, "pod_template", template)  # noqa: B010  (a constant to mypy)
    setattr(facts, "RENDER_VERSION", NEXT)  # noqa: B010
    setattr(updates, "RENDER_VERSION", NEXT)  # noqa: B010
    from llmservice.cli import main

    main(["run"])
