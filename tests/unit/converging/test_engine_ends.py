"""Whether an engine ended with its requests, by what Kubernetes tells of its container."""

from typing import Any

import pytest

from llmservice.converging.engine_ends import cut_short

GRACE, RESERVE = 200, 20
DELETED_AT, GONE_BY = "2026-11-22T10:00:00Z", "2026-11-22T10:03:20Z"
LEAVES = {"deletionTimestamp": GONE_BY, "deletionGracePeriodSeconds": GRACE}
IN_TIME, AT_THE_END_OF_THE_DRAIN = "2026-11-22T10:02:59Z", "2026-11-22T10:03:00Z"


def a_pod(restarts: int = 0, *, last: Any = None, grace: int = GRACE, metadata: Any = None, **state: Any) -> Any:
    engine = {"name": "engine", "restartCount": restarts, "state": state or {"running": {}}, "lastState": last or {}}
    return {
        "metadata": {"uid": "p-1", **(metadata or {})},
        "spec": {"terminationGracePeriodSeconds": grace},
        "status": {"containerStatuses": [engine]},
    }


def ended(code: int, at: str = IN_TIME) -> Any:
    return {"exitCode": code, "finishedAt": at}


def test_a_run_that_goes_on_has_no_end() -> None:
    assert cut_short(a_pod(), a_pod(), RESERVE) is None
    assert cut_short(a_pod(), a_pod(metadata=LEAVES), RESERVE) is None
    assert cut_short(a_pod(2), a_pod(2, last={"terminated": ended(1)}), RESERVE) is None


@pytest.mark.parametrize(
    ("code", "at", "cut"),
    [
        (0, IN_TIME, False),
        (143, IN_TIME, False),
        (134, IN_TIME, False),
        (137, IN_TIME, True),
        (0, AT_THE_END_OF_THE_DRAIN, True),
    ],
)
def test_a_leaving_pod_has_finished_unless_it_was_killed_or_its_time_ran_out(code: int, at: str, cut: bool) -> None:
    assert cut_short(a_pod(), a_pod(metadata=LEAVES, terminated=ended(code, at)), RESERVE) is cut


def test_of_a_grace_that_somebody_chose_only_the_kill_is_certain() -> None:
    shorter = {"deletionTimestamp": "2026-11-22T10:00:10Z", "deletionGracePeriodSeconds": 10}
    early = "2026-11-22T10:00:07Z"
    assert cut_short(a_pod(), a_pod(metadata=shorter, terminated=ended(0, early)), RESERVE) is False
    assert cut_short(a_pod(), a_pod(metadata=shorter, terminated=ended(137, early)), RESERVE) is True


def test_an_older_pod_with_another_drain_is_judged_by_its_own_grace() -> None:
    metadata = {"deletionTimestamp": "2026-11-22T10:00:35Z", "deletionGracePeriodSeconds": 35}
    over = a_pod(grace=35, metadata=metadata, terminated=ended(0, "2026-11-22T10:00:15Z"))
    assert cut_short(a_pod(grace=35), over, RESERVE) is True


@pytest.mark.parametrize(("code", "cut"), [(0, False), (143, False), (137, True), (1, True), (139, True)])
def test_a_pod_that_stays_has_crashed_unless_it_was_asked_to_end(code: int, cut: bool) -> None:
    assert cut_short(a_pod(), a_pod(terminated=ended(code)), RESERVE) is cut
    assert cut_short(a_pod(), a_pod(1, last={"terminated": ended(code)}), RESERVE) is cut


def test_a_pod_that_is_gone_while_its_engine_ran_was_removed_by_force() -> None:
    assert cut_short(a_pod(), None, RESERVE) is True


def test_a_termination_without_a_time_proves_nothing() -> None:
    assert cut_short(a_pod(), a_pod(metadata=LEAVES, terminated={"exitCode": 0}), RESERVE) is False
