"""What `llmservice validate` prints for people and for scripts."""

import json
from collections import Counter
from collections.abc import Sequence

from llmservice.cli.answers import FileAnswer
from llmservice.cli.findings import Severity, one_line
from llmservice.cli.plan_data import finding_as_object
from llmservice.cli.plural import counted


def as_text(files: Sequence[FileAnswer]) -> str:
    """A finding on each line, as compilers write them: file, line, column, severity, sentence, rule."""
    return "".join(
        f"{one_line(each.file)}:{each.line}:{each.column}: {each.severity}: {each.sentence()} [{each.rule}]\n"
        for file in files
        for each in file.findings()
    )


def as_json(files: Sequence[FileAnswer]) -> str:
    """The findings, and how many there are of what."""
    answer = {
        "findings": [finding_as_object(each) for file in files for each in file.findings()],
        "summary": {
            "files": len(files),
            "services": sum(len(file.answers) for file in files),
            **{f"{severity}s": number for severity, number in _severities(files).items()},
            "skipped": sum(len(file.skipped) for file in files),
        },
    }
    return json.dumps(answer, indent=1) + "\n"


def summary(files: Sequence[FileAnswer]) -> str:
    """One line."""
    services = sum(len(file.answers) for file in files)
    found = ", ".join(counted(number, severity) for severity, number in _severities(files).items())
    skipped = sum(len(file.skipped) for file in files)
    others = f"; {counted(skipped, 'document')} of other kinds skipped" if skipped else ""
    return f"{counted(services, 'LLMService')} in {counted(len(files), 'file')}: {found}{others}"


def _severities(files: Sequence[FileAnswer]) -> dict[Severity, int]:
    counts = Counter(each.severity for file in files for each in file.findings())
    return {severity: counts[severity] for severity in Severity}
