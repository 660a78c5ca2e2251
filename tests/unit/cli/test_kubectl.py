"""The options of kubectl, `kubectl llm`, completion, and colours."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from llmservice.cli import VERBS, main
from llmservice.cli.kubectl import NAME, completed
from llmservice.cli.table import bad, good, table
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import SmallCluster

ASKING = ["diff", "doctor", "events", "explain", "logs", "status"]
"""Verbs about one namespace of a cluster."""


def options_of(verb: str) -> set[str]:
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    commands = command.commands.values() if isinstance(command, click.Group) else [command]
    return {option for each in commands for parameter in each.params for option in parameter.opts}


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_who_takes_a_context_takes_a_kubeconfig(verb: str) -> None:
    options = options_of(verb)
    assert ("--context" in options) == ("--kubeconfig" in options)


@pytest.mark.parametrize("verb", ASKING)
def test_what_asks_a_cluster_takes_the_options_of_kubectl(verb: str) -> None:
    assert {"-n", "--namespace", "--context", "--kubeconfig"} <= options_of(verb)


@pytest.mark.parametrize("verb", ["diff", "doctor", "events", "explain", "status", "fit", "images"])
def test_what_prints_a_table_prints_json_and_yaml(verb: str) -> None:
    command = main.get_command(click.Context(main), verb)
    (output,) = [each for each in (command.params if command else []) if "--output" in each.opts]
    assert isinstance(output.type, click.Choice)
    assert {"text", "json", "yaml"} <= set(output.type.choices)


def test_the_kubeconfig_and_the_context_are_those_of_the_options(small: SmallCluster, tmp_path: Path) -> None:
    small.objects = [an_llmservice(kind="LLMService"), an_llmservice(kind="LLMService", metadata__namespace="other")]
    other = json.loads(small.kubeconfig.read_text())
    other["contexts"][0]["context"]["namespace"] = "other"
    (tmp_path / "other").write_text(json.dumps(other))
    arguments = ["status", "-o", "json", "--kubeconfig", str(tmp_path / "other")]
    for given, namespace in (([], "other"), (["-n", "ml"], "ml"), (["--context", "c"], "other")):
        (state,) = json.loads(CliRunner().invoke(main, [*arguments, *given]).stdout)
        assert state["namespace"] == namespace


def test_hints_name_the_command_as_it_was_called(small: SmallCluster) -> None:
    assert small.objects == []
    for name in ("llmservice", NAME):
        result = CliRunner().invoke(main, ["status", "chat"], prog_name=name)
        assert (result.exit_code, f"{name} status -A" in result.stderr) == (1, True)
        assert f"Usage: {name} status" in CliRunner().invoke(main, ["status", "-h"], prog_name=name).stdout


def test_kubectl_completes_verbs_and_names(small: SmallCluster) -> None:
    small.objects = [an_llmservice(kind="LLMService"), an_llmservice(kind="LLMService", metadata__name="other")]
    assert [line.split("\t")[0] for line in completed(["st"])] == ["status", ":4"]
    assert completed(["status", "ch"])[0].split("\t")[0] == "chat"
    assert [line.split("\t")[0] for line in completed(["logs", ""])] == ["chat", "other", ":4"]
    assert completed(["logs", "-n", "empty", ""]) == [":4"]
    assert completed(["status", "--context", ""]) == ["c", ":4"]
    assert completed(["render", ""])[-1] == ":0"


def test_a_tab_never_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    assert completed(["status", ""]) == [":4"]
    (tmp_path / "none").write_text("[")
    assert completed(["status", "--context", ""]) == [":4"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_completion(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell], prog_name=NAME)
    assert (result.exit_code, "_LLMSERVICE_COMPLETE" in result.stdout) == (0, True)


def test_columns_stand_where_they_would_without_colours() -> None:
    plain, painted = ([("a", "b"), (paint("long"), "c")] for paint in (str, good))
    assert [click.unstyle(line) for line in table(painted)] == table(plain)
    assert "\x1b" in table([(bad("x"),)])[0]


@pytest.mark.parametrize(("colour", "variable", "shown"), [(True, "", True), (True, "1", False), (False, "", False)])
def test_colours_are_for_terminals_and_for_who_wants_them(
    small: SmallCluster, colour: bool, variable: str, shown: bool
) -> None:
    small.objects = [an_llmservice(kind="LLMService")]
    result = CliRunner().invoke(main, ["status"], color=colour, env={"NO_COLOR": variable})
    assert ("\x1b[" in result.stdout) == shown
