"""Reads the files a verb is given: bounded, and each failure with its line."""

import click
import yaml

from llmservice.cli.bounds import TooMuch
from llmservice.cli.findings import Finding, Rule, Severity, one_line
from llmservice.cli.located import Document, located_documents

MOST_BYTES = 8 * 2**20
STDIN = "-"

files_argument = click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, allow_dash=True)
)
"""Paths and not open files, of which a process may have only so many."""


def shown_name(path: str) -> str:
    """The file as messages name it."""
    return "<stdin>" if path == STDIN else path


def read_file(path: str) -> tuple[Document, ...] | Finding:
    """The documents of a file, or why there are none."""
    name = shown_name(path)
    try:
        data = _bytes(path)
    except OSError as error:
        return _failure(name, Rule.UNREADABLE, f"cannot be read: {error.strerror}; name a file that you may read")
    if len(data) > MOST_BYTES:
        return _failure(name, Rule.TOO_LARGE, f"has more than {MOST_BYTES // 2**20} MiB; split it")
    try:
        return documents_of(name, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _failure(name, Rule.NOT_UTF8, f"is not UTF-8: {error}; save the file as UTF-8", line)


def documents_of(name: str, text: str) -> tuple[Document, ...] | Finding:
    """The documents of a text, or why there are none."""
    try:
        return tuple(located_documents(text))
    except TooMuch as error:
        return _failure(name, Rule.TOO_LARGE, str(error.problem), error.line)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = min(mark.line, text.rstrip("\n").count("\n")) + 1 if mark else 1  # not behind the last line
        return _failure(name, Rule.NOT_YAML, _not_yaml(error, text, line), line)


def _not_yaml(error: yaml.YAMLError, text: str, line: int) -> str:
    written = text.splitlines()[line - 1] if text else ""
    if "\t" in written[: len(written) - len(written.lstrip())]:
        return "is not YAML: this line is indented with a tab; use spaces"
    return f"is not YAML: {error}; correct the file"


def _bytes(path: str) -> bytes:
    with click.open_file(path, "rb") as file:
        data: bytes = file.read(MOST_BYTES + 1)
    return data


def _failure(name: str, rule: Rule, message: str, line: int = 1) -> Finding:
    return Finding(file=name, line=line, severity=Severity.ERROR, rule=rule, message=one_line(message))
