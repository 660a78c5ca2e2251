"""What a status says of counts, phases and waiting never contradicts itself: in all combinations of them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from llmservice.api.crd import crd_manifest
from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.progress import progress_of
from llmservice.converging.rollout_step import Rollout
from llmservice.converging.situation import Situation
from llmservice.converging.status import summarize
from tests.unit.converging.plans import a_deployment, a_plan, a_pod, crashed, running, waiting

NOW = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
UNREADY: Mapping[str, dict[str, Any]] = {
    "created": {},
    "pulls": waiting("ContainerCreating"),
    "loads": running(started=False),
    "waits for a sidecar": {**running(ready=True), "conditions": [{"type": "Ready", "status": "False", "reason": "X"}]},
    "crashes": crashed(),
    "was evicted": {"phase": "Failed", "reason": "Evicted"},
}
TRUE_REASONS = {Reason.READY, Reason.SUSPENDED, Reason.SCALED_TO_ZERO, Reason.ROLLOUT_BLOCKED}
WRONG = Diagnosis(reason=Reason.ENGINE_ARGUMENT_REJECTED, message="the engine rejects --x; remove it")
COUNTS = re.compile(r"(\d+) of (\d+) replicas ready")


@dataclass(frozen=True)
class Case:
    """A combination: counts of the Deployment and of ready pods, what the unready pod does, and what is asked for."""

    desired: int
    total: int
    updated: int
    ready: int
    unready: str | None
    seen: bool
    suspended: bool
    floor: int
    diagnosis: Diagnosis | None
    hopeless: bool
    pulling: str

    def status(self) -> dict[str, Any]:
        deployment = a_deployment(
            self.desired, total=self.total, updated=self.updated, observedGeneration=3 if self.seen else 2
        )
        pods = [a_pod(f"ready-{number}") for number in range(self.ready)]
        if self.unready is not None:
            pods.append(a_pod("new", ready=False, **UNREADY[self.unready]))
        situation = Situation(
            plan=a_plan(),
            progress=progress_of(deployment, pods),
            pods=pods,
            diagnosis=self.diagnosis,
            suspended=self.suspended,
            floor=self.floor,
            before={},
            hopeless=self.hopeless,
            pulling=self.pulling,
            rollout=Rollout(manifests=()),
        )
        return summarize(situation, NOW)


def cases() -> Iterator[Case]:
    faults = ((None, False), (WRONG, False), (WRONG, True))
    counts = [(d, t, u, r) for d, t, u, r in product(range(3), range(4), range(4), range(4)) if u <= t and r <= t]
    for numbers, unready, seen, suspended, floor, fault in product(
        counts, (None, *UNREADY), (True, False), (True, False), (0, 1, 2), faults
    ):
        yield Case(
            *numbers, unready, seen, suspended, floor, *fault, "a node pulls engine:1" if unready == "pulls" else ""
        )


@pytest.fixture(scope="module")
def told() -> list[tuple[Case, dict[str, dict[str, Any]]]]:
    return [(case, {item["type"]: item for item in case.status()["conditions"]}) for case in cases()]


def test_nothing_is_waited_for_that_is_said_to_be_there(told: list[tuple[Case, dict[str, dict[str, Any]]]]) -> None:
    for case, conditions in told:
        message = conditions["Ready"]["message"]
        for ready, asked in COUNTS.findall(message):
            assert int(ready) < int(asked), (case, message)
        assert not re.search(r"\b0 (pods|replicas? serve)", message), (case, message)


def test_all_serve_is_said_only_where_it_is_ready(told: list[tuple[Case, dict[str, dict[str, Any]]]]) -> None:
    for case, conditions in told:
        ready = conditions["Ready"]
        assert (ready["status"] == "True") == (Reason(ready["reason"]) in TRUE_REASONS), (case, ready)
        assert not (ready["status"] == "True" and ready["message"].endswith(": wait")), (case, ready)


def test_ready_excludes_reconciling_and_stalled_and_one_of_them_says_why_not(
    told: list[tuple[Case, dict[str, dict[str, Any]]]],
) -> None:
    for case, conditions in told:
        ready, unfinished = conditions["Ready"], {"Reconciling", "Stalled"} & conditions.keys()
        assert len(unfinished) == (ready["status"] == "False"), (case, conditions)
        assert all(conditions[kind]["reason"] == ready["reason"] for kind in unfinished), (case, conditions)


def test_the_columns_show_status_and_reason_of_the_condition_that_kubectl_waits_for() -> None:
    columns = {
        item["name"]: item["jsonPath"]
        for item in crd_manifest(["llamacpp"])["spec"]["versions"][0]["additionalPrinterColumns"]
    }
    assert {name: columns[name] for name in ("Ready", "Reason")} == {
        "Ready": '.status.conditions[?(@.type=="Ready")].status',
        "Reason": '.status.conditions[?(@.type=="Ready")].reason',
    }
