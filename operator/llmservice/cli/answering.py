"""The answers of all files of a command, and what only shows when they are seen together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from llmservice.cli.answers import Answer, FileAnswer, Planner, answer_file
from llmservice.cli.findings import Finding, Rule, Severity

_NOTHING = (
    "holds no LLMService, and neither does any other file given: nothing was checked; an LLMService begins with "
    "`apiVersion: llmservice.dev/v1alpha1` and `kind: LLMService`"
)


def answer_files(
    paths: Iterable[str], planner: Planner, facts: Mapping[str, Any] | None = None, *, others_do: bool = False
) -> list[FileAnswer]:
    """The answers, in the order of the files; `facts` are those of the model, for resources that state none.

    A name that was given before is refused, and so are files that hold no LLMService at all. With `others_do` files of
    other kinds of resources are fine: a hook of a pipeline gets whatever was changed.
    """
    files = [answer_file(path, planner, facts) for path in paths]
    found = any(file.answers or file.problem or (others_do and file.others) for file in files)
    return _each_named_once(files) if found else [replace(file, problem=_nothing_in(file)) for file in files]


def _each_named_once(files: Sequence[FileAnswer]) -> list[FileAnswer]:
    """The same answers; a second one of the same name is refused."""
    seen: dict[str, str] = {}
    return [replace(file, answers=tuple(_named_once(file.answers, seen))) for file in files]


def _nothing_in(file: FileAnswer) -> Finding:
    return Finding(file=file.file, severity=Severity.ERROR, rule=Rule.NO_LLMSERVICE, message=_NOTHING)


def _named_once(answers: Iterable[Answer], seen: dict[str, str]) -> Iterator[Answer]:
    """`seen` maps a name to the place where it was given first."""
    for answer in answers:
        before = seen.setdefault(answer.name, f"{answer.file}:{answer.line}")
        if not answer.named or before == f"{answer.file}:{answer.line}":
            yield answer
        else:
            yield replace(answer, findings=(_repeated(answer, before), *answer.findings), plan=None)


def _repeated(answer: Answer, before: str) -> Finding:
    return Finding(
        file=answer.file,
        line=answer.line,
        service=answer.name,
        severity=Severity.ERROR,
        rule=Rule.REPEATED_NAME,
        field="metadata.name",
        message=f"{answer.name} is in {before} too, and the last one applied would win; give one of them another name",
    )
