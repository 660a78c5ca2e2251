"""What planning answers for each LLMService of a file: a plan, or every problem in its way; and what to know of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from llmservice.api.v1alpha1.resource import GROUP, KIND, LLMService
from llmservice.cli.findings import Finding, Rule, Severity, lines_of, one_line
from llmservice.cli.located import Document
from llmservice.cli.reading import documents_of, read_file, shown_name
from llmservice.cli.repeated_keys import repeated_keys
from llmservice.cli.second_look import problems_beyond
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import facts_from_text
from llmservice.planning.fit.verdict import Outcome
from llmservice.planning.service_plan import ServicePlan

Planner = Callable[[LLMService], ServicePlan]

_LONGEST_NAME = 120
_NO_NAME, _NO_KIND = "(no name)", "this document"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One LLMService; `plan`, `service` and `body` (as it is written) are None where it is refused.

    `name` is namespace/name.
    """

    file: str
    line: int
    name: str
    findings: tuple[Finding, ...]
    service: LLMService | None = None
    plan: ServicePlan | None = None
    body: Mapping[str, Any] | None = None

    @property
    def named(self) -> bool:
        """Whether its resource has a name."""
        return self.name != _NO_NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class FileAnswer:
    """A file: its LLMServices, what is wrong with the file itself, and line and kind of whatever else it holds."""

    file: str
    answers: tuple[Answer, ...] = ()
    problem: Finding | None = None
    skipped: tuple[tuple[int, str], ...] = ()

    def findings(self) -> Iterator[Finding]:
        """All of them, in the order of the file."""
        if self.problem:
            yield self.problem
        for answer in self.answers:
            yield from answer.findings

    @property
    def others(self) -> bool:
        """Whether it holds resources of other kinds."""
        return any(kind != _NO_KIND for _, kind in self.skipped)

    @property
    def refused(self) -> bool:
        """Whether anything in it is refused."""
        return any(finding.severity is Severity.ERROR for finding in self.findings())


def answer_file(path: str, planner: Planner, facts: Mapping[str, Any] | None = None) -> FileAnswer:
    """The answers of a file; `facts` are those of the model, for resources that state none."""
    return _answered(shown_name(path), read_file(path), planner, facts)


def answer_text(name: str, text: str, planner: Planner) -> FileAnswer:
    """The answers of a text."""
    return _answered(name, documents_of(name, text), planner, None)


def _answered(
    name: str, documents: tuple[Document, ...] | Finding, planner: Planner, facts: Mapping[str, Any] | None
) -> FileAnswer:
    if isinstance(documents, Finding):
        return FileAnswer(file=name, problem=documents)
    ours = [document for document in documents if _is_ours(document.value)]
    others = [document for document in documents if not _is_ours(document.value)]
    return FileAnswer(
        file=name,
        answers=tuple(_answer(name, document, planner, facts) for document in ours),
        skipped=tuple((document.place()[0], _described(document.value)) for document in others),
    )


def _answer(file: str, document: Document, planner: Planner, facts: Mapping[str, Any] | None) -> Answer:
    line, column = document.place()
    repeated = tuple(_repeated(file, document))
    raw = _with_facts(document.value, facts)
    try:
        service = LLMService.parse(raw)
        plan = planner(service)
    except InvalidSpec as error:
        name = _name(document.value)
        problems = [*lines_of(error), *problems_beyond(raw, error, planner)]
        found = sorted(_problems(file, document, name, problems), key=lambda finding: (finding.line, finding.column))
        return Answer(file=file, line=line, name=name, findings=(*repeated, *found))
    name = f"{service.metadata.namespace}/{service.metadata.name}"
    whole = Finding(file=file, line=line, column=column, service=name, severity=Severity.NOTE, rule="", message="")
    remarks = tuple(
        replace(whole, severity=severity, rule=rule, message=one_line(message))
        for severity, rule, message in _remarks(service, plan)
    )
    if repeated:
        return Answer(file=file, line=line, name=name, findings=(*repeated, *remarks))
    return Answer(file=file, line=line, name=name, findings=remarks, service=service, plan=plan, body=raw)


def _with_facts(raw: Mapping[str, Any], facts: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Without its status, which keeps what an operator with other rows and settings decided; with the facts given."""
    resource = {**raw, "status": None}
    spec = raw.get("spec")
    model = spec.get("model") if isinstance(spec, Mapping) else None
    if facts and isinstance(model, Mapping) and not model.get("facts"):
        resource["spec"] = {**raw["spec"], "model": {**model, "facts": facts}}
    return resource


def _problems(file: str, document: Document, name: str, problems: Iterable[tuple[str, str, str]]) -> Iterator[Finding]:
    for rule, field, message in problems:
        line, column = document.place(field)
        yield Finding(
            file=file,
            line=line,
            column=column,
            service=name,
            severity=Severity.ERROR,
            rule=rule,
            field=field,
            message=message,
        )


def _repeated(file: str, document: Document) -> Iterator[Finding]:
    """Keys that are given twice: of two values one would be dropped without a word."""
    for key in repeated_keys(document.node):
        yield Finding(
            file=file,
            line=key.line,
            column=key.column,
            service=_name(document.value),
            severity=Severity.ERROR,
            rule=Rule.REPEATED_KEY,
            field=one_line(key.field),
            message=f"is given in line {key.first_line} too; keep one of them",
        )


def _remarks(service: LLMService, plan: ServicePlan) -> Iterator[tuple[Severity, Rule, str]]:
    """What the writer of a resource that can run should know."""
    fit, model = plan.fit, service.spec.model.uri
    if fit is not None and fit.outcome is Outcome.DOES_NOT_FIT:
        yield Severity.WARNING, Rule.DOES_NOT_FIT, fit.message
    elif fit is not None and fit.outcome is Outcome.TIGHT:
        yield Severity.WARNING, Rule.TIGHT, fit.message
    elif fit is not None and fit.outcome is Outcome.UNKNOWN:
        facts = facts_from_text(plan.facts)
        stated = facts is not None and facts.model_source != "nothing"
        yield Severity.NOTE, Rule.NOT_INSPECTED, fit.message if stated else f"{fit.message}; {how_to_state(model)}"
    elif fit is None and plan.devices and service.spec.fit != "Ignore":
        yield Severity.NOTE, Rule.NOT_INSPECTED, not_inspected(model)
    if service.spec.engine_options.image is not None:
        yield Severity.WARNING, Rule.OWN_IMAGE, own_image(plan)
    for note in plan.notes:
        yield Severity.NOTE, Rule.PLAN_NOTE, note


def not_inspected(model: str) -> str:
    """Why nothing is said about memory, and the way out."""
    return f"nothing is known of {model}: whether it fits was not computed; {how_to_state(model)}"


def how_to_state(model: str) -> str:
    """The way out where facts are missing."""
    return f"`llmservice inspect {model} -o json` prints facts for spec.model.facts"


def own_image(plan: ServicePlan) -> str:
    """What is not checked of an image that is not the catalogue's."""
    return (
        f"spec.engineOptions.image is your own: it is planned as {plan.engine} {plan.engine_version} without being "
        "checked; make sure that spec.engineOptions.version is the version it was built from"
    )


def _is_ours(value: object) -> bool:
    """By kind or group: a kind that is misspelled must not pass for another."""
    if not isinstance(value, Mapping):
        return False
    return value.get("kind") == KIND or str(value.get("apiVersion", "")).startswith(f"{GROUP}/")


def _described(value: object) -> str:
    kind = value.get("kind") if isinstance(value, Mapping) else None
    return one_line(str(kind))[:_LONGEST_NAME] if kind else _NO_KIND


def _name(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    given = metadata if isinstance(metadata, Mapping) else {}
    name, namespace = given.get("name"), given.get("namespace") or "default"
    return one_line(f"{namespace}/{name}")[:_LONGEST_NAME] if name else _NO_NAME
