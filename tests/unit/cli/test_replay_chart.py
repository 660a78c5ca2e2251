"""The chart of a replay: what its panels show, and that the same replay is the same file."""

from pathlib import Path

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.policy import Objective
from llmservice.cli.replay_chart import chart, per_window, quantile, save, steps, sum_per_second
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Moment, Replay, replay
from llmservice.simulation.request import Arrival
from tests.unit.simulation.builders import a_profile, always


def a_replay(replicas: int = 2) -> Replay:
    arrivals = [Arrival(float(second), 50, 5) for second in range(1, 700)]
    return replay(arrivals, Fleet(a_profile(), 20.0, 1), always(replicas), objective=Objective())


def test_one_replay_shows_load_replicas_and_latency() -> None:
    axes = chart("load", {"Learned": a_replay()}).axes
    assert [each.get_ylabel() for each in axes] == ["thousand tokens/s", "replicas", "seconds to first token"]
    assert [line.get_label() for line in axes[1].lines] == ["asked for", "ready"]
    assert axes[0].get_title(loc="left") == "load, Learned"


def test_several_show_what_each_policy_asked_for_and_attained() -> None:
    axes = chart("load", {"fixed:2": a_replay(2), "fixed:3": a_replay(3)}).axes
    assert [line.get_label() for line in axes[1].lines] == [
        f"fixed:{replicas}: {a_replay(replicas).average_replicas:.2f} on average" for replicas in (2, 3)
    ]
    assert [line.get_label() for line in axes[2].lines] == ["fixed:2: 100.00% in all", "fixed:3: 100.00% in all"]


@pytest.mark.parametrize("title", ["a < b & c", "$5 and $6", "_{"])
def test_any_title_can_be_drawn(tmp_path: Path, title: str) -> None:
    save(chart(title, {"Learned": a_replay()}), tmp_path / "load.svg")
    assert title.replace("&", "&amp;").replace("<", "&lt;") in (tmp_path / "load.svg").read_text("utf-8")


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_the_same_replay_is_the_same_file(tmp_path: Path, ending: str) -> None:
    for name in ("one", "two"):
        save(chart("load", {"Learned": a_replay()}), tmp_path / f"{name}{ending}")
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"two{ending}").read_bytes()


def test_a_window_is_one_point_in_its_middle() -> None:
    samples = [(0.0, 3000.0), (59.0, 3000.0), (61.0, 12_000.0)]
    assert per_window(samples, sum_per_second, 60.0) == [(30.0, 0.1), (90.0, 0.2)]


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 3.0), (0.99, 4.0), (1.0, 4.0)])
def test_a_quantile_is_one_of_the_values(share: float, value: float) -> None:
    assert quantile(share)([4.0, 1.0, 3.0, 2.0], 60.0) == value


def test_steps_are_the_changes_and_the_end() -> None:
    decision = Decision(replicas=1, reason=Reason.STEADY, message="")
    moments = [
        Moment(at=float(at), asked=asked, ready=0, running=0, waiting=0, decision=decision)
        for at, asked in ((10, 1), (20, 1), (30, 2), (40, 2), (50, 2))
    ]
    assert steps(moments, lambda moment: moment.asked) == [(10.0, 1), (30.0, 2), (50.0, 2)]
