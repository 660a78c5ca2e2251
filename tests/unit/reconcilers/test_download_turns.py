"""Whose download runs: a namespace leaves room for others, whether this process began its downloads or found them."""

from llmservice.objects.references import Ref
from llmservice.reconcilers.download_turns import ABANDONED_SECONDS, DownloadTurns


def a_job(namespace: str, number: int) -> Ref:
    return Ref("Job", namespace, f"llmservice-download-{number}")


def test_downloads_that_are_found_after_a_restart_count_for_their_namespace() -> None:
    turns = DownloadTurns(at_once=4)
    for number in range(3):
        turns.adopt(a_job("greedy", number))
        turns.adopt(a_job("greedy", number))
    assert not turns.has_turn(a_job("greedy", 3)), "the last place is for others"
    assert turns.has_turn(a_job("modest", 0))
    turns.release(a_job("greedy", 0))
    assert not turns.has_turn(a_job("greedy", 3))
    turns.drop(a_job("modest", 0))
    assert turns.has_turn(a_job("greedy", 3))


def test_more_that_are_found_than_may_run_hold_back_every_other_until_they_end() -> None:
    turns = DownloadTurns(at_once=2)
    for number in range(3):
        turns.adopt(a_job("greedy", number))
    assert not turns.has_turn(a_job("modest", 0))
    for number in range(2):
        turns.release(a_job("greedy", number))
    assert turns.has_turn(a_job("modest", 0))


def test_a_job_that_was_found_and_vanished_has_its_turn_still() -> None:
    turns = DownloadTurns(at_once=1)
    turns.adopt(a_job("chat", 0))
    assert turns.has_turn(a_job("chat", 0))
    assert not turns.has_turn(a_job("chat", 1))
    turns.release(a_job("chat", 0))
    assert turns.has_turn(a_job("chat", 1))


def test_a_job_that_is_found_while_it_waits_has_one_turn() -> None:
    turns = DownloadTurns(at_once=1)
    assert turns.has_turn(a_job("a", 0))
    assert not turns.has_turn(a_job("b", 0))
    turns.adopt(a_job("b", 0))
    turns.release(a_job("b", 0))
    turns.release(a_job("a", 0))
    assert turns.has_turn(a_job("c", 0))


def test_of_a_download_that_nobody_wanted_for_a_while_nothing_is_remembered() -> None:
    turns, job = DownloadTurns(at_once=1), a_job("chat", 0)
    first = turns.of(job, 0.0)
    assert turns.has_turn(job)
    assert turns.of(job, ABANDONED_SECONDS) is first
    assert turns.of(job, 3 * ABANDONED_SECONDS) is not first
    assert turns.has_turn(a_job("other", 0)), "its turn is free"


def test_a_download_that_is_wanted_again_is_not_forgotten_with_its_predecessor() -> None:
    turns, job = DownloadTurns(at_once=1), a_job("chat", 0)
    turns.of(job, 0.0)
    assert turns.forget_abandoned(1000.0) == (job,)
    assert not turns.is_wanted(job)
    again = turns.of(job, 1000.0)
    assert turns.forget_abandoned(1000.0) == ()
    assert turns.of(job, 1001.0) is again
