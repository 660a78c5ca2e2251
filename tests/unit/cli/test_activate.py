"""`llmservice activate`: options and variables that become bounds."""

from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.activator.bounds import Bounds
from llmservice.activator.process import Where
from llmservice.cli import activate, process_options

Started = list[tuple[Bounds, Where]]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """What activators were started with; none of them runs."""
    found: Started = []

    async def run_activator(bounds: Bounds, where: Where) -> None:
        found.append((bounds, where))

    def nothing(*_: Any) -> None:
        """The process stays as it is."""

    monkeypatch.setattr(activate, "run_activator", run_activator)
    monkeypatch.setattr(process_options, "set_up_logs", nothing)
    return found


def invoked(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(activate.command, arguments, env=environment)


def test_without_options_the_bounds_are_the_usual_ones(started: Started) -> None:
    assert invoked().exit_code == 0
    assert started == [(Bounds(), Where())]


def test_variables_and_options_say_the_same_and_the_option_wins(started: Started) -> None:
    variables = {"LLMSERVICE_ACTIVATOR_HELD": "7", "LLMSERVICE_ACTIVATOR_HELD_MIB": "3", "LLMSERVICE_NAMESPACES": "a,b"}
    result = invoked("--held", "9", "--held-each", "4", "--wait-seconds", "5", "--control-port", "9000", **variables)
    assert result.exit_code == 0, result.output
    ((bounds, where),) = started
    assert bounds == Bounds(held=9, held_each=4, held_bytes=3 * 2**20, wait_seconds=5)
    assert where == Where(control_port=9000, namespaces=("a", "b"))


@pytest.mark.parametrize(
    "arguments", [("--held", "0"), ("--held-mib", "x"), ("--control-port", "70000"), ("--namespace", "Team_A")]
)
def test_what_cannot_be_is_wrong_usage(arguments: tuple[str, ...], started: Started) -> None:
    assert invoked(*arguments).exit_code == 2
    assert started == []


def test_of_a_variable_too(started: Started) -> None:
    result = invoked(LLMSERVICE_ACTIVATOR_HELD="many")
    assert (result.exit_code, "LLMSERVICE_ACTIVATOR_HELD" in result.output) == (2, True)
    assert started == []
