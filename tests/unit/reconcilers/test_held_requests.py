"""What the activators hold, added up; what they counted is told once."""

from llmservice.reconcilers.activation.activators import Control
from llmservice.reconcilers.activation.held_requests import HeldRequests
from llmservice.signals.held_page import HeldPage, PortCounts

ONE, TWO = Control("10.0.0.1"), Control("10.0.0.2")
PORT = 20_007


def a_page(held: int = 0, answered: int = 0, refused: int = 0) -> HeldPage:
    return HeldPage(ports={PORT: PortCounts(held=held, answered=answered, refused=refused)})


def noting() -> tuple[HeldRequests, list[tuple[int, PortCounts]]]:
    told: list[tuple[int, PortCounts]] = []
    return HeldRequests(noted=lambda port, counts: told.append((port, counts))), told


def test_all_of_them_count() -> None:
    held, told = noting()
    held.put(ONE, a_page(held=2))
    held.put(TWO, a_page(held=3))
    assert held.at(PORT) == 5
    assert [counts.held for _, counts in told] == [2, 5]


def test_what_was_counted_before_the_first_question_is_not_told_again() -> None:
    held, told = noting()
    held.put(ONE, a_page(answered=100, refused=7))
    held.put(ONE, a_page(answered=104, refused=8))
    assert [(counts.answered, counts.refused) for _, counts in told] == [(0, 0), (4, 1)]


def test_a_restarted_activator_counts_from_nothing() -> None:
    held, told = noting()
    held.put(ONE, a_page(answered=100))
    held.put(ONE, a_page(answered=3))
    assert told[-1][1].answered == 3


def test_the_same_again_is_no_news() -> None:
    held, told = noting()
    held.put(ONE, a_page(held=1))
    held.put(ONE, a_page(held=1))
    assert len(told) == 1


def test_one_that_goes_holds_nothing() -> None:
    held, told = noting()
    held.put(ONE, a_page(held=2))
    held.put(TWO, a_page(held=3))
    held.drop(ONE)
    assert (held.at(PORT), told[-1][1].held) == (3, 3)
    held.put(TWO, HeldPage())
    assert (held.at(PORT), told[-1][1].held) == (0, 0)
