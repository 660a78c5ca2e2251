"""The same command as a plugin: `kubectl llm`, and what kubectl asks for when somebody presses Tab behind it.

kubectl runs `kubectl-llm` for `kubectl llm`, and `kubectl_complete-llm` with the words typed so far; the answer is a
suggestion a line and a last line with a colon and a number, of which 4 means "no file names"
(kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins, github.com/spf13/cobra: ShellCompDirectiveNoFileComp).
"""

import sys

import click
from click.shell_completion import ShellComplete

from llmservice.cli import main

NAME = "kubectl llm"
_NO_FILES, _FILES = ":4", ":0"


def run() -> None:
    """`kubectl llm`."""
    main(prog_name=NAME)


def complete() -> None:
    """What fits behind the words of the command line."""
    for line in completed(sys.argv[1:]):
        click.echo(line)


def completed(words: list[str]) -> list[str]:
    """The suggestions for the last word, each with its help behind a tab; then what kubectl is to do besides."""
    *before, incomplete = words or [""]
    found = ShellComplete(main, {}, NAME, "").get_completions(before, incomplete)
    plain = [each for each in found if each.type == "plain"]
    files = any(each.type in ("file", "dir") for each in found)
    return [
        *(f"{each.value}\t{each.help}" if each.help else str(each.value) for each in plain),
        _FILES if files else _NO_FILES,
    ]
