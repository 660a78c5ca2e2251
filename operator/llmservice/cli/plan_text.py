"""What `llmservice plan` tells people: one screen for each LLMService."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from textwrap import wrap

from llmservice.cli.answers import Answer, FileAnswer
from llmservice.cli.findings import Finding, one_line
from llmservice.cli.fit_figures import WORDS
from llmservice.cli.plural import counted
from llmservice.converging.redaction import redacted_arguments
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.service_plan import ServicePlan

_WIDTH = 110
_LABEL = 13
_GB = 10**9


def as_text(files: Sequence[FileAnswer]) -> str:
    """Every LLMService with an empty line behind it, then how many can run."""
    parts = [part for file in files for part in _of_file(file)]
    return "\n".join([*(f"{part}\n" for part in parts), _summary(files), ""])


def _of_file(file: FileAnswer) -> Iterator[str]:
    if file.problem:
        yield f"{file.file}: refused\n{_refusal(file.problem)}"
    for answer in file.answers:
        yield "\n".join(_of_service(answer))


def _of_service(answer: Answer) -> Iterator[str]:
    place = f"({answer.file}:{answer.line})"
    if answer.plan is None:
        yield f"{answer.name}: refused  {place}"
        yield from map(_refusal, answer.findings)
        return
    yield f"{answer.name}: can run  {place}"
    for label, text in _facts(answer.plan):
        yield from _labelled(label, text)
    said = answer.plan.fit.message if answer.plan.fit else ""
    for finding in answer.findings:
        if finding.message != one_line(said):
            yield from _labelled(finding.severity, finding.message)
    yield from _defaults(answer.plan)


def _facts(plan: ServicePlan) -> Iterator[tuple[str, str]]:
    yield "engine", f"{plan.engine} {plan.engine_version}"
    yield "image", plan.container.image
    yield "model", f"{plan.model}, served as {', '.join(plan.names)}"
    if plan.cache:
        yield "cache", _cache(plan.cache)
    yield "devices", _devices(plan)
    yield "limits", f"{_limits(plan)}; quantization {plan.quantization}"
    if plan.container.command:
        yield "command", shlex.join(plan.container.command)
    yield "arguments", shlex.join(redacted_arguments(plan.container.args))
    if plan.fit:
        yield "fit", f"{WORDS[plan.fit.outcome]}: {plan.fit.message}"


def _cache(cache: CachePlan) -> str:
    made, size = "yours", f", {cache.expected_bytes / _GB:.1f} GB" if cache.expected_bytes else ""
    if cache.owned:
        made = f"made for it: {cache.owned.size}, {' and '.join(cache.owned.access_modes)}"
    return f"{cache.request.uri}{size}, downloaded once to claim {cache.claim} ({made})"


def _limits(plan: ServicePlan) -> str:
    length = f"{plan.max_model_len} tokens a request" if plan.max_model_len else "request length left to the engine"
    return f"{length}, {plan.max_num_seqs} requests at once"


def _devices(plan: ServicePlan) -> str:
    if not plan.devices:
        return "none: the CPU"
    shared = "".join(f", {name} {number}" for name, number in asdict(plan.parallelism).items() if number > 1)
    nodes = f" on {plan.nodes} nodes" if plan.nodes > 1 else ""
    return f"{plan.devices} x {plan.accelerator or plan.resource_name} ({plan.resource_name}){nodes}{shared}"


def _labelled(label: str, text: str) -> Iterator[str]:
    """A label and its text, in as many lines as it needs."""
    lines = wrap(one_line(text), _WIDTH - _LABEL, break_on_hyphens=False) or [""]
    for number, line in enumerate(lines):
        yield f"  {label if number == 0 else '':{_LABEL - 2}}{line}"


def _defaults(plan: ServicePlan) -> Iterator[str]:
    if not plan.defaults:
        return
    widest = max(len(each.field) for each in plan.defaults)
    yield "  chosen, because the resource leaves it open:"
    for each in plan.defaults:
        text = f"{each.value}: {each.reason}"
        for number, line in enumerate(wrap(one_line(text), _WIDTH - widest - 6, break_on_hyphens=False)):
            yield f"    {each.field if number == 0 else '':{widest}}  {line}"


def _refusal(finding: Finding) -> str:
    return "\n".join(_labelled(f"line {finding.line}", f"{finding.rule}: {finding.sentence()}"))


def _summary(files: Sequence[FileAnswer]) -> str:
    answers = [answer for file in files for answer in file.answers]
    refused = sum(answer.plan is None for answer in answers)
    unread = sum(file.problem is not None for file in files)
    skipped = sum(len(file.skipped) for file in files)
    counts = [f"{len(answers) - refused} can run", f"{refused} refused"]
    counts += [f"{counted(unread, 'file')} unreadable"] if unread else []
    counts += [f"{counted(skipped, 'document')} of other kinds skipped"] if skipped else []
    return ", ".join(counts)
