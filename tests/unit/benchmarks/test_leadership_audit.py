import json
from typing import Any

from benchmarks.leadership_audit import Write, handovers, overlaps, writes_in


def lease(author: str, at: float) -> Write:
    return Write(author=author, began=at, ended=at + 0.01, resource="leases")


def work(author: str, at: float, seconds: float = 0.01) -> Write:
    return Write(author=author, began=at, ended=at + seconds, resource="deployments")


def a_line(**changes: Any) -> str:
    event = {
        "verb": "patch",
        "user": {"username": "one"},
        "objectRef": {"resource": "deployments"},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-21T12:00:00.500000Z",
        "stageTimestamp": "2026-11-21T12:00:00.750000Z",
    }
    return json.dumps({**event, **changes})


def test_terms_one_after_the_other_do_not_overlap() -> None:
    assert overlaps([lease("one", 0), work("one", 1), lease("two", 2), work("two", 3)]) == []


def test_a_write_after_another_has_taken_over_overlaps() -> None:
    late = work("one", 3)
    assert overlaps([lease("one", 0), lease("two", 2), work("two", 2.5), late]) == [late]


def test_a_write_that_has_not_ended_when_another_takes_over_overlaps() -> None:
    slow = work("one", 1, seconds=5)
    assert overlaps([lease("one", 0), slow, lease("two", 2)]) == [slow]


def test_a_write_without_any_term_overlaps() -> None:
    early = work("one", 1)
    assert overlaps([early, lease("one", 2)]) == [early]


def test_a_handover_tells_the_last_write_and_the_first() -> None:
    (handover,) = handovers([lease("one", 0), work("one", 1), lease("two", 16), work("two", 17)])
    assert (handover.old, handover.new) == ("one", "two")
    assert (handover.last, handover.first) == (1.01, 17)


def test_reads_the_servers_times() -> None:
    (write,) = writes_in([a_line()], ["one"])
    assert (write.author, write.resource, write.ended - write.began) == ("one", "deployments", 0.25)


def test_refused_writes_and_other_users_do_not_count() -> None:
    lines = [a_line(responseStatus={"code": 409}), a_line(user={"username": "somebody"}), a_line(verb="get")]
    assert writes_in(lines, ["one"]) == []
