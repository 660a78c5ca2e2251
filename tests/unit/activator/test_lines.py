"""Whose turn it is, under any order of events."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from llmservice.activator.lines import Line
from llmservice.activator.slices import Replica

REPLICAS = [Replica("10.0.0.1", 8000), Replica("10.0.0.2", 8000), Replica("10.0.0.3", 8000)]
EVENTS = st.lists(
    st.one_of(
        st.just(("join", 0)),
        st.tuples(st.sampled_from(["leave", "done", "again"]), st.integers(0, 50)),
        st.tuples(st.just("use"), st.integers(0, 7)),
    ),
    max_size=150,
)


class Playing:
    """Plays events on a line, and keeps its own books."""

    def __init__(self, concurrency: int) -> None:
        self.line: Line[int] = Line(concurrency)
        self.expected: list[int] = []
        self.sent: list[tuple[int, Replica]] = []
        self.came = self.ended = 0

    def play(self, event: tuple[str, int]) -> None:
        what, number = event
        if what == "join":
            self.line.join(self.came)
            self.expected.append(self.came)
            self.came += 1
        elif what == "leave" and self.expected:
            gone = self.expected.pop(number % len(self.expected))
            assert self.line.leave(gone)
            self.ended += 1
        elif what == "done" and self.sent:
            _, replica = self.sent.pop(number % len(self.sent))
            self.line.done(replica)
            self.ended += 1
        elif what == "again" and self.sent:
            ticket, replica = self.sent.pop(number % len(self.sent))
            self.line.join_first(ticket)
            self.line.done(replica)
            self.expected.insert(0, ticket)
        elif what == "use":
            self.line.use([replica for bit, replica in enumerate(REPLICAS) if number & (1 << bit)])

    def call(self) -> None:
        while turn := self.line.next(0.0):
            assert turn[0] == self.expected.pop(0), "first come, first served"
            self.sent.append(turn)


@given(EVENTS, st.integers(1, 4))
def test_turns_are_in_order_nobody_is_lost_and_no_replica_has_more_than_it_bears(
    events: list[Any], concurrency: int
) -> None:
    playing = Playing(concurrency)
    for event in events:
        playing.play(event)
        playing.call()
        with_each = [sum(replica == each for _, replica in playing.sent) for each in REPLICAS]
        assert max(with_each) <= concurrency
        assert playing.came == playing.ended + len(playing.expected) + len(playing.sent)
        assert list(playing.line.waiting) == playing.expected
        assert playing.line.sent == len(playing.sent)
        free = [each for each in playing.line.replicas if with_each[REPLICAS.index(each)] < concurrency]
        assert not (free and playing.expected), "somebody waits while a replica has room"


def test_the_least_busy_replica_is_next() -> None:
    line: Line[str] = Line(3)
    line.use(REPLICAS[:2])
    for name in "abcd":
        line.join(name)
    taken = [turn[1] for _ in range(4) if (turn := line.next(0.0))]
    assert taken == [REPLICAS[0], REPLICAS[1], REPLICAS[0], REPLICAS[1]]


def test_a_replica_that_rests_gets_nothing_until_then() -> None:
    line: Line[str] = Line(1)
    line.use(REPLICAS[:1])
    line.join("a")
    line.rest(REPLICAS[0], until=5.0)
    assert line.next(4.9) is None
    assert line.next(5.0) == ("a", REPLICAS[0])


def test_a_replica_that_left_and_came_back_still_has_what_it_had() -> None:
    line: Line[str] = Line(1)
    line.use(REPLICAS[:1])
    line.join("a")
    line.join("b")
    assert line.next(0.0) == ("a", REPLICAS[0])
    line.use([])
    line.use(REPLICAS[:1])
    assert line.next(0.0) is None
    line.done(REPLICAS[0])
    assert line.next(0.0) == ("b", REPLICAS[0])
