"""Twenty live services see the operator's next version come and go: no pod is restarted."""

from collections.abc import Iterator

import pytest

from tests.cluster.kube import Body, Kube, condition_of
from tests.cluster.newer_operator import NEW_FIELD
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service

pytestmark = pytest.mark.cluster

NAMES = [f"chat-{number:02d}" for number in range(20)]


@pytest.fixture
def twenty(kube: Kube, models: object) -> Kube:  # noqa: ARG001  (their volume)
    """Twenty services that serve."""
    for name in NAMES:
        kube.create(a_tiny_service(name, pod={"resources": {"requests": {"cpu": "10m", "memory": "64Mi"}}}))
    for name in NAMES:
        kube.wait_ready(name, seconds=180)
    return kube


@pytest.fixture
def upgraded(twenty: Kube, operator: Operator) -> Iterator[Kube]:
    """The same under the next version; afterwards the old one is back."""
    usual = operator.command
    operator.stop()
    operator.command = ("-m", "tests.cluster.newer_operator")
    operator.start()
    yield twenty
    if operator.command != usual:
        restore(operator, usual)


def restore(operator: Operator, command: tuple[str, ...]) -> None:
    """Roll the operator back."""
    operator.stop()
    operator.command = command
    operator.start()


def pods(kube: Kube) -> set[tuple[str, int]]:
    """Every pod with how often its engine was started: UIDs, so that a successor of a name counts as another."""
    return {
        (pod["metadata"]["uid"], status["restartCount"])
        for pod in kube.list("Pod")
        for status in pod["status"].get("containerStatuses") or ()
    }


def test_a_newer_operator_and_its_rollback_restart_nothing(upgraded: Kube, operator: Operator) -> None:
    before = pods(upgraded)
    assert len(before) == len(NAMES)
    for name in NAMES:
        upgraded.wait_reason(name, "NewerPlan", "UpdateAvailable")
    take = upgraded.kubectl("annotate", "llm", NAMES[0], "llmservice.dev/update=now")
    assert "annotated" in take
    upgraded.wait(lambda: len(before & pods(upgraded)) < len(before), lambda: upgraded.list("Pod"))
    kept = before & pods(upgraded)
    assert len(kept) == len(NAMES) - 1
    assert grace_of(upgraded, NAMES[0]) == NEW_FIELD[1]

    restore(operator, ("-m", "llmservice", "run"))
    upgraded.wait_reason(NAMES[0], "MadeByNewerOperator", "UpdateAvailable")
    upgraded.wait(
        lambda: not any(has_update(upgraded, name) for name in NAMES[1:]), lambda: upgraded.list("LLMService")
    )
    assert kept <= pods(upgraded)
    assert grace_of(upgraded, NAMES[0]) == NEW_FIELD[1]


def grace_of(kube: Kube, name: str) -> int:
    """The field in which the next version differs, as it stands in the Deployment."""
    deployment: Body | None = kube.get("Deployment", name)
    assert deployment is not None
    return int(deployment["spec"]["template"]["spec"][NEW_FIELD[0]])


def has_update(kube: Kube, name: str) -> bool:
    """Whether the resource speaks of an update."""
    return bool(condition_of(kube.get("LLMService", name), "UpdateAvailable"))
