"""Findings as SARIF 2.1.0, for GitHub code scanning and others.

Source: docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html (3.13 sarifLog, 3.14 run, 3.27 result, 3.49
reportingDescriptor), and what GitHub reads of it:
docs.github.com/en/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from llmservice import __version__
from llmservice.cli.answers import FileAnswer
from llmservice.cli.findings import Finding
from llmservice.cli.rules import meaning_of

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_sarif(files: Sequence[FileAnswer]) -> str:
    """One run, with the rules that were broken."""
    findings = [finding for file in files for finding in file.findings()]
    rules = {rule: index for index, rule in enumerate(dict.fromkeys(finding.rule for finding in findings))}
    driver = {"name": "llmservice", "version": __version__, "rules": [_rule(rule) for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, rules) for finding in findings],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(rule: str) -> dict[str, Any]:
    meaning, remedy = meaning_of(rule)
    return {
        "id": rule,
        "name": rule,
        "shortDescription": {"text": meaning},
        "fullDescription": {"text": meaning},
        "help": {"text": remedy, "markdown": remedy},
    }


def _result(finding: Finding, rules: Mapping[str, int]) -> dict[str, Any]:
    physical = {
        "artifactLocation": {"uri": _uri(finding.file)},
        "region": {"startLine": finding.line, "startColumn": finding.column},
    }
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.field:
        name = f"{finding.service}: {finding.field}"
        location["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "member"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": rules[finding.rule],
        "level": finding.severity.value,
        "message": {"text": finding.sentence()},
        "locations": [location],
    }


def _uri(file: str) -> str:
    """Relative to the working folder, which in a pipeline is the repository; else as a file: URI."""
    path = Path(file)
    if not path.is_absolute():
        return _quoted(path)
    try:
        return _quoted(path.relative_to(Path.cwd()))
    except ValueError:
        return path.as_uri()


def _quoted(path: Path) -> str:
    """Names that are not UTF-8 by their bytes."""
    return quote(path.as_posix(), errors="surrogateescape")
