"""`llmservice replay`: what it prints, and what it says about wrong usage."""

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from llmservice.cli.replay import command


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Ten minutes of two requests a second."""
    path = tmp_path / "load.csv"
    rows = "".join(f"{at / 2},800,60\n" for at in range(1200))
    path.write_text("arrival_seconds,prompt_tokens,output_tokens\n" + rows, encoding="utf-8")
    return path


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_prints_what_was_attained_and_what_it_cost(trace: Path) -> None:
    result = ran("--trace", trace, "--engine", "a100-8b")
    assert result.exit_code == 0
    assert "attainment         1.0000" in result.output
    assert "average replicas" in result.output
    assert "reversals" in result.output


def test_figures_come_as_json_too(trace: Path) -> None:
    figures = json.loads(ran("--trace", trace, "--engine", "a100-8b", "-o", "json").output)
    assert figures["requests"] == 1200
    assert figures["gpu_hours"] == pytest.approx(figures["average_replicas"] * figures["hours"], rel=1e-2)


def test_a_fixed_number_stays(trace: Path) -> None:
    figures = json.loads(ran("--trace", trace, "--policy", "Fixed", "--first", 3, "-o", "json").output)
    assert (figures["average_replicas"], figures["actions"]) == (3.0, 0)


def test_more_load_needs_more_replicas(trace: Path) -> None:
    few, many = (
        json.loads(ran("--trace", trace, "--times", times, "--cold-start", 20, "-o", "json").output)
        for times in (1, 20)
    )
    assert many["average_replicas"] > few["average_replicas"] + 0.5


def test_prints_every_change_with_its_reason(trace: Path) -> None:
    arguments = ("--policy", "Threshold", "--running", 0.5, "--max", 4, "--decisions")
    result = ran("--trace", trace, *arguments)
    assert "LoadRose: 1 → " in result.output
    assert "target 0.5 each" in result.output


def test_json_with_the_changes_is_one_object(trace: Path) -> None:
    arguments = ("--policy", "Threshold", "--running", 0.5, "--max", 4, "--decisions", "-o", "json")
    decisions = json.loads(ran("--trace", trace, *arguments).stdout)["decisions"]
    rises = [decision for decision in decisions if decision["reason"] == "LoadRose"]
    assert rises[0]["message"].startswith(f"1 → {rises[0]['replicas']}: ")
    assert all(later["at_seconds"] > earlier["at_seconds"] for earlier, later in pairwise(decisions))


@pytest.mark.parametrize("ending", [".svg", ".png"])
def test_draws_a_picture(trace: Path, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"load{ending}"
    assert ran("--trace", trace, "--plot", picture).exit_code == 0
    beginning = picture.read_bytes()[:60]
    assert beginning.startswith(b"\x89PNG" if ending == ".png" else b"<?xml")


def test_other_policies_play_the_same_load_beside_it(trace: Path) -> None:
    result = ran("--trace", trace, "--engine", "a100-8b", "--against", "keda:1, kubeai:24,fixed:3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "1200 requests" in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()[-4:]]
    assert [row[0] for row in rows] == ["Learned", "keda:1", "kubeai:24", "fixed:3"]
    assert rows[-1][1:4] == ["1.0000", "3.00", "0.50"]
    assert float(rows[1][2]) > float(rows[2][2])


def test_others_come_as_json_too(trace: Path) -> None:
    result = ran("--trace", trace, "--policy", "Fixed", "--against", "fixed:1,hpa-kv", "-o", "json")
    figures = json.loads(result.stdout)
    assert list(figures["against"]) == ["fixed:1", "hpa-kv:80"]
    assert figures["against"]["fixed:1"] == {key: value for key, value in figures.items() if key != "against"}


def test_the_smallest_fixed_fleet_and_the_cheapest_schedule_are_found(trace: Path) -> None:
    arguments = ("--trace", trace, "--times", 8, "--max", 4, "--against", "fixed:best,clairvoyant", "-o", "json")
    against = json.loads(ran(*arguments).stdout)["against"]
    assert against["fixed:best"]["attainment"] >= 0.99
    assert against["clairvoyant"]["average_replicas"] <= against["fixed:best"]["average_replicas"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("kedda:24", "kedda:24: no such policy: choose among learned"),
        ("keda:24,", "no such policy"),
        ("keda:24,keda:24.0", "keda:24 is named twice"),
        ("fixed:0", "give replicas after the colon, a whole number up to 1000"),
    ],
)
def test_a_policy_that_means_nothing_is_wrong_usage(trace: Path, names: str, message: str) -> None:
    result = ran("--trace", trace, "--against", names)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Invalid value for '--against'" in result.stderr
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give --trace FILE.csv, or a --scenario"),
        (("--scenario", "conv-34b"), "give --trace"),
        (("--scenario", "ramp-34b", "--engine", "b200"), "no engine table 'b200'"),
        (("--scenario", "ramp-34b", "--policy", "Threshold"), "give --kv-percent, --queued or --running"),
        (("--scenario", "ramp-34b", "--min", 5, "--max", 2), "--min 5 is above --max 2"),
        (("--scenario", "ramp-34b", "--first", 40), "--first 40 is not between --min 3 and --max 8"),
        (("--scenario", "step", "--times", 5), "--times would change nothing: the scenario step fixes the load"),
        (("--scenario", "step", "--warm-up", 300), "--warm-up would change nothing: the scenario step"),
        (("--scenario", "step", "--trace", __file__), "--trace would change nothing: the scenario step"),
        (("--scenario", "step", "--queued", 2), "--queued would change nothing: leave it out, or give --policy Thres"),
        (("--scenario", "step", "--policy", "Fixed", "--reserve", "Safe"), "--reserve would change nothing: leave it"),
    ],
)
def test_says_what_is_missing(arguments: tuple[object, ...], message: str) -> None:
    result = ran(*arguments)
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize(
    ("times", "arguments", "message"),
    [
        ((5,), (), "requests at different times"),
        ((5, 5, 5), (), "requests at different times"),
        ((0, 10, 30, 60), ("--times", 0.01), "--times 0.01 leaves none of 4 requests: give more"),
    ],
)
def test_says_what_a_load_lacks(
    tmp_path: Path, times: Sequence[int], arguments: Sequence[object], message: str
) -> None:
    path = tmp_path / "short.csv"
    rows = "".join(f"{at},100,20\n" for at in times)
    path.write_text("arrival_seconds,prompt_tokens,output_tokens\n" + rows, encoding="utf-8")
    result = ran("--trace", path, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


@pytest.mark.parametrize(("option", "number"), [("--times", "nan"), ("--cold-start", "inf"), ("--kv-percent", "nan")])
def test_a_number_is_finite(trace: Path, option: str, number: str) -> None:
    result = ran("--trace", trace, option, number)
    assert result.exit_code == 2
    assert f"'{option}': {number} is not a finite number" in result.stderr


def test_a_folder_that_is_missing_is_told_before_the_replay(trace: Path, tmp_path: Path) -> None:
    result = ran("--trace", trace, "--plot", tmp_path / "no" / "load.svg")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{tmp_path / 'no'} is no folder: create it" in result.stderr


def test_a_picture_that_cannot_be_written_costs_no_figures(trace: Path, tmp_path: Path) -> None:
    result = ran("--trace", trace, "--plot", tmp_path / ("x" * 300 + ".svg"))
    assert result.exit_code == 1
    assert "attainment" in result.stdout
    assert "name a file that you can write" in result.stderr


def test_refuses_a_picture_it_cannot_draw(trace: Path, tmp_path: Path) -> None:
    result = ran("--trace", trace, "--plot", tmp_path / "load.gif")
    assert result.exit_code == 2
    assert "end it in .svg or .png" in result.output


def test_without_the_plotting_library_it_says_so_before_the_replay(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "llmservice.cli.replay_chart", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = ran("--trace", trace, "--plot", tmp_path / "load.svg")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "install the extra `plot`" in result.stderr
    assert ran("--trace", trace).exit_code == 0


def test_the_image_of_the_operator_has_no_plotting_library() -> None:
    lock = Path(__file__).parents[3] / "requirements" / "runtime.lock"
    assert "click==" in lock.read_text("utf-8")
    assert "matplotlib" not in lock.read_text("utf-8")


@pytest.fixture
def scheduled(tmp_path: Path) -> Path:
    """A resource with three replicas in the first half of the hour, and one in the second."""
    path = tmp_path / "chat.yaml"
    path.write_text(
        "apiVersion: llmservice.dev/v1alpha1\nkind: LLMService\nmetadata: {name: chat}\nspec:\n"
        "  engine: vllm\n  model: {uri: hf://a/b}\n  gpu: {type: L4}\n  autoscaling:\n    maxReplicas: 4\n"
        "    schedules: [{name: early, start: '00:00', end: '00:05', minReplicas: 3}]\n",
        encoding="utf-8",
    )
    return path


def test_schedules_are_played_by_the_clock(trace: Path, scheduled: Path) -> None:
    arguments = ("--trace", trace, "--engine", "a100-8b", "--schedules", scheduled, "--decisions")
    within = ran(*arguments, "--begins", "2026-03-02T00:00Z")
    after = ran(*arguments, "--begins", "2026-03-02T00:06Z")
    assert "bounds 3 to 4 of schedule early" in within.output
    assert (within.exit_code, after.exit_code, "schedule early" in after.output) == (0, 0, False)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--begins", "2026-03-02T00:00"), "--begins"),
        (("--schedules", "FILE", "--max", 3), "--max"),
        (("--schedules", "FILE", "--policy", "Fixed"), "--schedules"),
        (("--schedules", "FILE", "--begins", "tomorrow"), "--begins"),
    ],
)
def test_what_schedules_leave_no_room_for_is_refused(
    trace: Path, scheduled: Path, arguments: tuple[object, ...], named: str
) -> None:
    result = ran("--trace", trace, *(scheduled if each == "FILE" else each for each in arguments))
    assert (result.exit_code, named in result.output) == (2, True)


def test_a_file_without_schedules_is_refused(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "none.yaml"
    path.write_text("kind: ConfigMap\n", encoding="utf-8")
    result = ran("--trace", trace, "--schedules", path)
    assert result.exit_code != 0
    assert "spec.autoscaling.schedules" in result.output
