"""The health script gives every recorded status the health that was written beside it by hand."""

from typing import Any

import pytest
import yaml

from tests.cluster.kstatus import KStatus, kstatus
from tests.gitops.lua import CUSTOMIZATION, ROOT, health_of

RECORDED = yaml.safe_load((ROOT / "tests/gitops/recorded_statuses.yaml").read_text())
UPSTREAM = yaml.safe_load((CUSTOMIZATION / "health_test.yaml").read_text())["tests"]
AS_KSTATUS = {
    "Healthy": KStatus.CURRENT,
    "Progressing": KStatus.IN_PROGRESS,
    "Degraded": KStatus.FAILED,
}


def body_of(case: dict[str, Any]) -> dict[str, Any]:
    """The object as Argo CD sees it. A message is recorded under the condition's type or, shared, under its reason."""
    conditions = [(kind, *said.split()) for kind, said in case.get("conditions", {}).items()]
    messages = case.get("messages", {})
    status = {
        "observedGeneration": case["observed"],
        "conditions": [
            {"type": kind, "status": truth, "reason": reason, "message": messages.get(kind) or messages[reason]}
            for kind, truth, reason in conditions
        ],
    }
    return {"metadata": {"name": "chat", "generation": case["generation"]}, "status": status}


cases = pytest.mark.parametrize("case", [pytest.param(case, id=case["is"]) for case in RECORDED])


@cases
def test_a_recorded_status_has_the_health_written_beside_it(case: dict[str, Any]) -> None:
    assert health_of(body_of(case))["status"] == case["health"]


@cases
def test_argo_cd_and_kstatus_agree(case: dict[str, Any]) -> None:
    assert kstatus(body_of(case)) == AS_KSTATUS[case["health"]]


@cases
def test_the_message_is_one_of_the_status(case: dict[str, Any]) -> None:
    body = body_of(case)
    said = [condition["message"] for condition in body["status"]["conditions"]]
    assert health_of(body)["message"] in {*said, "Waiting for the operator to observe this generation"}


def test_enough_is_recorded_and_each_case_once() -> None:
    assert len(RECORDED) >= 40
    assert len({case["is"] for case in RECORDED}) == len(RECORDED)
    assert {case["health"] for case in RECORDED} == set(AS_KSTATUS)


@pytest.mark.parametrize("test", [pytest.param(test, id=test["inputPath"]) for test in UPSTREAM])
def test_argo_cds_own_test_data_holds(test: dict[str, Any]) -> None:
    body = yaml.safe_load((CUSTOMIZATION / test["inputPath"]).read_text())
    assert health_of(body) == test["healthStatus"]


def test_every_file_of_test_data_is_used() -> None:
    files = {f"testdata/{path.name}" for path in (CUSTOMIZATION / "testdata").iterdir()}
    assert files == {test["inputPath"] for test in UPSTREAM}
