"""`llmservice run`: options that mean what the variables mean."""

import os
from typing import Any

import pytest
from click.testing import CliRunner, Result

from llmservice.cli import process_options, run
from llmservice.settings import Settings


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """What operators were started with; none of them runs."""
    settings: list[Settings] = []

    async def run_operator(given: Settings) -> None:
        settings.append(given)

    def nothing(*_: Any) -> None:
        """The process stays as it is."""

    monkeypatch.setattr(run, "run_operator", run_operator)
    monkeypatch.setattr(process_options, "set_up_logs", nothing)
    monkeypatch.setattr(run, "_collect_rarely", nothing)
    return settings


def invoked(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(run.command, arguments, env=environment)


@pytest.mark.parametrize(
    ("arguments", "namespaces"),
    [
        ((), ("from-variable",)),
        (("-n", "b", "-n", "a"), ("a", "b")),
        (("-n", "a", "-n", "a"), ("a",)),
        (("-n", "b,a"), ("a", "b")),
    ],
)
def test_namespaces_are_read_like_those_of_the_variable(
    arguments: tuple[str, ...], namespaces: tuple[str, ...], started: list[Settings]
) -> None:
    result = invoked(*arguments, LLMSERVICE_NAMESPACES="from-variable")
    assert result.exit_code == 0, result.output
    assert [settings.namespaces for settings in started] == [namespaces]


@pytest.mark.parametrize(("name", "complaint"), [("Team_A", "'Team_A' is not a namespace"), ("", "is empty")])
def test_what_is_no_namespace_is_wrong_usage(name: str, complaint: str, started: list[Settings]) -> None:
    result = invoked("-n", name)
    assert (result.exit_code, complaint in result.output) == (2, True), result.output
    assert started == []


def test_an_option_wins_over_its_variable_and_the_whole_process_reads_the_kubeconfig(
    started: list[Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "theirs")
    variables = {"LLMSERVICE_CONTEXT": "theirs", "LLMSERVICE_WORKERS": "2", "LLMSERVICE_LOG_LEVEL": "error"}
    options = ("--context", "ours", "--kubeconfig", "ours", "--workers", "3", "--log-level", "debug")
    assert invoked(**variables).exit_code == invoked(*options, **variables).exit_code == 0
    assert [(each.context, each.workers, each.log_level) for each in started] == [
        ("theirs", 2, "error"),
        ("ours", 3, "debug"),
    ]
    assert os.environ["KUBECONFIG"] == "ours"
