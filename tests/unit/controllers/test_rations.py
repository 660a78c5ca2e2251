"""So much a second and no more, by name."""

from llmservice.controllers.endpoints.rations import Rations


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_burst_and_then_so_many_a_second() -> None:
    clock = Clock()
    rations = Rations(per_second=2, burst=3, clock=clock)
    assert [rations.take("a") for _ in range(4)] == [True, True, True, False]
    clock.now = 1.0
    assert [rations.take("a") for _ in range(3)] == [True, True, False]


def test_one_name_takes_nothing_from_another() -> None:
    rations = Rations(per_second=0, burst=1)
    assert (rations.take("a"), rations.take("a"), rations.take("b")) == (True, False, True)


def test_being_refused_costs_nothing() -> None:
    clock = Clock()
    rations = Rations(per_second=1, burst=1, clock=clock)
    assert rations.take("a")
    for step in range(1, 11):
        clock.now = step / 10 - 0.05
        assert not rations.take("a")
    clock.now = 1.01
    assert rations.take("a")


def test_only_so_many_names_are_remembered() -> None:
    rations = Rations(per_second=0, burst=1, names=10)
    for number in range(100):
        rations.take(str(number))
    assert len(rations._left) == 10
