"""Who writes replicas: the table of `replicas_to_state`, case by case."""

from typing import Any

import pytest

from llmservice.converging.replicas import Replicas, owned_by_another, replicas_to_state, stating
from llmservice.objects.names import AUTOSCALER, BEFORE_SUSPEND_ANNOTATION, OPERATOR


def a_deployment(replicas: int, *owners: str, annotations: dict[str, str] | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    return {
        "kind": "Deployment",
        "metadata": {
            "name": "chat",
            "annotations": annotations or {},
            "managedFields": [{"manager": owner, "operation": "Apply", "fieldsV1": fields} for owner in owners],
        },
        "spec": {"replicas": replicas},
    }


SUSPENDED_FROM_FOUR = a_deployment(0, OPERATOR, annotations={BEFORE_SUSPEND_ANNOTATION: "4"})


@pytest.mark.parametrize(
    ("fixed", "suspend", "deployment", "expected"),
    [
        (3, False, None, Replicas(value=3)),
        (0, False, a_deployment(2, OPERATOR), Replicas(value=0)),
        (3, False, a_deployment(5, AUTOSCALER), Replicas(value=3)),
        (None, False, None, Replicas(value=1)),
        (None, False, a_deployment(5, OPERATOR), Replicas(value=5, live=True)),
        (None, False, a_deployment(5, AUTOSCALER), Replicas(value=None)),
        (None, False, a_deployment(5, OPERATOR, AUTOSCALER), Replicas(value=None)),
        (None, False, a_deployment(0, "keda"), Replicas(value=None)),
        (None, True, a_deployment(4, AUTOSCALER), Replicas(value=0, before_suspend=4)),
        (2, True, None, Replicas(value=0, before_suspend=2)),
        (None, True, SUSPENDED_FROM_FOUR, Replicas(value=0, before_suspend=4)),
        (None, False, SUSPENDED_FROM_FOUR, Replicas(value=4)),
        (2, False, SUSPENDED_FROM_FOUR, Replicas(value=2)),
    ],
)
def test_states_replicas_as_the_table_says(
    fixed: int | None, suspend: bool, deployment: dict[str, Any] | None, expected: Replicas
) -> None:
    assert replicas_to_state(fixed=fixed, suspend=suspend, minimum=1, deployment=deployment) == expected


def test_resumes_at_the_minimum_when_less_ran_before() -> None:
    deployment = a_deployment(0, OPERATOR, annotations={BEFORE_SUSPEND_ANNOTATION: "0"})
    assert replicas_to_state(fixed=None, suspend=False, minimum=2, deployment=deployment).value == 2


@pytest.mark.parametrize(("maximum", "value"), [(2, 2), (4, 4), (8, 4), (None, 4)])
def test_resumes_within_a_maximum_that_was_lowered_meanwhile(maximum: int | None, value: int) -> None:
    stated = replicas_to_state(fixed=None, suspend=False, minimum=1, maximum=maximum, deployment=SUSPENDED_FROM_FOUR)
    assert stated == Replicas(value=value)


def test_a_maximum_changes_no_number_that_runs() -> None:
    """The autoscaler lowers it, and says so."""
    stated = replicas_to_state(fixed=None, suspend=False, minimum=1, maximum=2, deployment=a_deployment(5, OPERATOR))
    assert stated == Replicas(value=5, live=True)


@pytest.mark.parametrize("kept", ["", "many", "-1", "9" * 5000])
def test_a_spoilt_note_of_what_ran_before_counts_as_the_live_number(kept: str) -> None:
    deployment = a_deployment(0, OPERATOR, annotations={BEFORE_SUSPEND_ANNOTATION: kept})
    assert replicas_to_state(fixed=None, suspend=False, minimum=1, deployment=deployment).value == 1


def test_status_writers_do_not_own_replicas() -> None:
    deployment = a_deployment(1)
    deployment["metadata"]["managedFields"] = [
        {"manager": "kube-controller-manager", "subresource": "status", "fieldsV1": {"f:status": {"f:replicas": {}}}}
    ]
    assert not owned_by_another(deployment)


def test_what_ran_before_is_kept_on_the_deployment_in_the_same_write() -> None:
    service, deployment = {"kind": "Service", "metadata": {}}, a_deployment(3)
    stated = stating([deployment, service], Replicas(value=0, before_suspend=3))
    assert stated[0]["metadata"]["annotations"] == {BEFORE_SUSPEND_ANNOTATION: "3"}
    assert stated[0]["spec"]["replicas"] == 0
    assert stated[1] == service
    assert deployment["metadata"]["annotations"] == {}


def test_no_replicas_are_stated_while_somebody_else_owns_them() -> None:
    deployment = {"kind": "Deployment", "metadata": {}, "spec": {"paused": False}}
    assert stating([deployment], Replicas(value=None)) == [deployment]
