"""What the page shows, without a server."""

from datetime import UTC, datetime, timedelta
from typing import Any

from llmservice.ui.history import History, Track
from llmservice.ui.leading import leading_from
from llmservice.ui.views import PAGE, row_of, service_view, services_view

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def a_state(name: str, *, reached: bool = True, message: str = "") -> dict[str, Any]:
    shown = {
        "namespace": "ml",
        "name": name,
        "reason": "Ready",
        "replicas": "1/1",
        "engine": "vllm",
        "model": "hf://a/b",
    }
    return {**shown, "reached": reached, "message": message}


def a_lease(**spec: Any) -> dict[str, Any]:
    renewed = (NOW - timedelta(seconds=5)).isoformat()
    return {"spec": {"holderIdentity": "operator-0_7", "renewTime": renewed, "leaseDurationSeconds": 15, **spec}}


def test_those_that_are_not_ready_stand_first_and_every_word_must_be_there() -> None:
    states = [a_state("b"), a_state("a", reached=False), a_state("c")]
    assert [row["name"] for row in services_view(states)["rows"]] == ["a", "b", "c"]
    assert [row["name"] for row in services_view(states, only_unready=True)["rows"]] == ["a"]
    assert services_view(states, wanted="VLLM c")["found"] == 1


def test_a_page_beyond_the_last_is_the_last() -> None:
    states = [a_state(f"s{number:03}") for number in range(PAGE + 1)]
    view = services_view(states, page=9)
    assert (view["page"], view["pages"], len(view["rows"])) == (1, 2, 1)


def test_texts_are_cut_and_cannot_turn_the_direction() -> None:
    row = row_of(a_state("a", message="\u202e" + "x" * 100_000))
    assert row["message"].startswith("\\u202e")
    assert len(row["message"]) < 600


def test_a_checkpoint_is_nobodys_business_and_lists_end() -> None:
    status = {"autoscaling": {"checkpoint": "secret", "reason": "Steady"}, "plan": {"notes": ["n"] * 10_000}}
    view = service_view(a_state("a"), status, Track(), {})
    assert "checkpoint" not in view["scaling"]
    assert len(view["notes"]) == 200


def test_of_services_that_were_opened_the_last_few_are_remembered() -> None:
    history = History()
    for name in ("a", "b", "c", "b"):
        history.note_one({"metadata": {"namespace": "ml", "name": name}}, 1.0, most=2)
    assert [bool(history.of(("ml", name)).points) for name in "abc"] == [False, True, True]


def test_only_changes_are_remembered_and_what_is_gone_is_forgotten() -> None:
    history, service = History(), {"metadata": {"namespace": "ml", "name": "a"}, "status": {"readyReplicas": 1}}
    for moment in range(5):
        history.note([service], float(moment))
    service["status"] = {"readyReplicas": 2}
    history.note([service], 9.0)
    assert [point[:3] for point in history.of(("ml", "a")).points] == [(0.0, 0, 1), (9.0, 0, 2)]
    history.note([], 10.0)
    assert not history.of(("ml", "a")).points


def test_each_decision_is_kept_once() -> None:
    track = Track()
    for reason in ("Steady", "Steady", "LoadRose"):
        track.note({"autoscaling": {"replicas": 2, "reason": reason, "message": reason, "decidedAt": "1"}}, 0.0)
    assert [each["reason"] for each in track.decisions] == ["Steady", "LoadRose"]


def test_an_operator_leads_is_away_or_was_never_there() -> None:
    assert leading_from(a_lease(), "ops/l", NOW)["state"] == "Leads"
    assert leading_from(a_lease(renewTime=(NOW - timedelta(seconds=31)).isoformat()), "ops/l", NOW)["state"] == "Away"
    assert leading_from(a_lease(holderIdentity=""), "ops/l", NOW)["state"] == "Away"
    assert leading_from(a_lease(renewTime="rubbish"), "ops/l", NOW)["state"] == "Away"
    assert leading_from(None, "ops/l", NOW)["state"] == "Away"


def test_a_successor_of_the_same_name_shows_nothing_of_its_predecessor() -> None:
    history = History()
    for uid in ("1", "2"):
        metadata = {"namespace": "ml", "name": "a", "uid": uid}
        history.note([{"metadata": metadata, "status": {"readyReplicas": int(uid)}}], 1.0)
    assert [point[2] for point in history.of(("ml", "a")).points] == [2]
    history.note_one({"metadata": {"namespace": "ml", "name": "a", "uid": "3"}}, 2.0, most=2)
    assert [point[2] for point in history.of(("ml", "a")).points] == [0]
