"""The comparison of policies: figures, sums, the page made of them, and that it goes on where it was cut off."""

import json
from pathlib import Path

import pytest
import yaml

from benchmarks.bench_policies import CANDIDATES, DOCS, POLICIES, known_figures, sections
from benchmarks.policies_figures import Figures, cell_of, chosen, sum_of
from benchmarks.policies_page import page
from benchmarks.policies_playing import HINDSIGHT, Results, figures_of, play_all, policy_of, trial_of
from benchmarks.policies_plot import draw_summary
from tests.unit.simulation.peers.trials import a_trial


def some_figures(attainment: float, replicas: float = 2.0, reversals: int = 0) -> Figures:
    return {
        "attainment": attainment,
        "replicas": replicas,
        "replica_hours": replicas * 2,
        "reversals": reversals,
        "hours": 2.0,
    }


def test_a_load_is_the_mean_of_its_seeds_and_remembers_the_worst() -> None:
    cell = cell_of({"1": some_figures(1.0, 2.0, 4), "2": some_figures(0.9, 4.0, 2)})
    assert (cell.attainment, cell.worst, cell.replicas, cell.replica_hours) == (0.95, 0.9, 3.0, 6.0)
    assert cell.reversals_per_hour == 1.5


def test_loads_add_up_and_the_worst_is_named() -> None:
    by_load = {"calm": {"1": some_figures(1.0)}, "wild": {"1": some_figures(0.5, 3.0, 4)}}
    total = sum_of(by_load, ("calm", "wild"))
    assert total is not None
    assert (total.good, total.loads, total.mean, total.worst, total.worst_load) == (1, 2, 0.75, 0.5, "wild")
    assert (total.replicas, total.replica_hours, total.reversals_per_hour) == (5.0, 10.0, 1.0)


def test_a_policy_that_misses_a_load_has_no_sum() -> None:
    assert sum_of({"calm": {"1": some_figures(1.0)}}, ("calm", "wild")) is None


def test_the_page_says_what_each_policy_attained_and_is_bad_at() -> None:
    played = {
        "keda:24": {"calm": {"11": some_figures(0.98765, 2.345, 3)}, "wild": {"11": some_figures(0.5)}},
        "clairvoyant": {"calm": {"11": some_figures(1.0)}},
    }
    text = page(played, ["calm", "wild"], [("calm loads", ["calm"]), ("wild loads", ["wild"])], {})
    assert "| `keda:24` | 0 of 1 | .9877 | .9877 (calm) | 2.35 | 4.7 | 1.5 |" in text
    assert "| calm | .9877 @ 2.35 / 1.5 | 1.0000 @ 2.00 / 0.0 |" in text
    assert "| wild | .5000 @ 2.00 / 0.0 | – |" in text
    assert "Seeds: 11." in text


def test_every_policy_of_the_page_is_described_and_can_be_played() -> None:
    described = yaml.safe_load((DOCS.parents[1] / "benchmarks" / "policies.yaml").read_text("utf-8"))
    assert list(described) == list(POLICIES)
    assert [policy_of(name).name for name in POLICIES] == list(POLICIES)


def test_the_page_is_made_of_the_figures_beside_it() -> None:
    played = json.loads((DOCS / "policies.json").read_text("utf-8"))
    candidates = json.loads((DOCS / "policies-choice.json").read_text("utf-8"))
    known, loads = known_figures(played)
    assert (DOCS / "policies.md").read_text("utf-8") == page(known, loads, sections(loads), candidates)


def test_a_careful_and_a_cheap_setting_are_chosen() -> None:
    tried = {"keda:8": (0.999, 9.0), "keda:16": (0.99, 6.0), "keda:24": (0.95, 4.0), "keda:32": (0.94, 3.0)}
    others = {"kubeai:8": (0.9, 9.0), "kubeai:16": (0.8, 5.0)}
    candidates = {name: {"calm": {"0": some_figures(*figures)}} for name, figures in (tried | others).items()}
    assert chosen(candidates, "keda") == ("keda:16", "keda:24")
    assert chosen(candidates, "kubeai") == ("kubeai:16", "kubeai:8")


def test_the_page_has_the_settings_that_were_chosen() -> None:
    candidates = json.loads((DOCS / "policies-choice.json").read_text("utf-8"))
    assert set(candidates) == set(CANDIDATES)
    assert {*chosen(candidates, "keda"), *chosen(candidates, "kubeai")} <= set(POLICIES)


def test_a_run_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    results = Results.read(tmp_path / "policies.json")
    results.add("fixed:1", "calm", 11, some_figures(0.9))
    again = Results.read(tmp_path / "policies.json")
    assert again.has("fixed:1", "calm", 11)
    trials = [("calm", 11, a_trial())]
    played = list(play_all(("fixed:1", "fixed:2"), trials, again.has))
    assert [(policy, load, seed) for policy, load, seed, _ in played] == [("fixed:2", "calm", 11)]


def test_the_same_policy_on_the_same_load_gives_the_same_figures() -> None:
    first, second = (figures_of(policy_of("learned:Balanced").play(a_trial())) for _ in range(2))
    assert first == second
    assert first["replica_hours"] == pytest.approx(first["replicas"] * first["hours"], rel=1e-3)


def test_hindsight_is_left_out_of_long_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.policies_playing.LONGEST_SEARCH_SECONDS", 60.0)
    played = list(play_all(("fixed:1", *HINDSIGHT), [("calm", 11, a_trial())], lambda *_: False))
    assert [policy for policy, *_ in played] == ["fixed:1"]


def test_policies_know_neither_model_nor_device() -> None:
    trial = trial_of("ramp-34b", {}, 11)
    assert trial.policy.roofline is None
    assert (trial.policy.minimum, trial.policy.maximum) == (3, 8)


def test_the_same_figures_are_the_same_picture(tmp_path: Path) -> None:
    played = {"keda:24": {"calm": {"1": some_figures(0.9)}}, "wva": {"calm": {"1": some_figures(0.5)}}}
    for name in ("one.svg", "two.svg"):
        draw_summary(played, [("calm loads", ["calm"])], tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert "keda:24" in (tmp_path / "one.svg").read_text("utf-8")
