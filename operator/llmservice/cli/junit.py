"""Findings as JUnit XML: a suite for each file, a case for each LLMService; GitLab, Jenkins and others read it.

Source: the schema of Jenkins' xUnit plugin (jenkinsci/xunit-plugin, junit-10.xsd), and what GitLab reads of it: the
text of a failure, not its message (docs.gitlab.com/ci/testing/unit_test_reports).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

from llmservice.cli.answers import Answer, FileAnswer
from llmservice.cli.findings import Finding, Severity, one_line

_NAME = "llmservice validate"
_FILE_ITSELF = "(file)"
_NO_CHARACTERS = {0xFFFE: "?", 0xFFFF: "?"}
"""What XML forbids and `one_line` leaves (w3.org/TR/xml, 2.2)."""


def as_junit(files: Sequence[FileAnswer], failing: Collection[Severity]) -> str:
    """Findings of a severity in `failing` are failures, the others stand in the output of their case."""
    root = ET.Element("testsuites", name=_NAME)
    for file in files:
        root.append(_suite(file, failing))
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in root)))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode").translate(_NO_CHARACTERS)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(file: FileAnswer, failing: Collection[Severity]) -> ET.Element:
    name = one_line(file.file)
    cases = [_case(name, title, answer.findings, failing) for title, answer in _titled(file.answers)]
    if file.problem:
        cases.insert(0, _case(name, _FILE_ITSELF, (file.problem,), failing))
    failed = sum(case.find("failure") is not None for case in cases)
    suite = ET.Element("testsuite", name=name, tests=str(len(cases)), failures=str(failed), errors="0", time="0")
    suite.extend(cases)
    return suite


def _titled(answers: Sequence[Answer]) -> Iterator[tuple[str, Answer]]:
    """With names of their own: of cases with the same name GitLab takes the first alone."""
    seen = Counter(answer.name for answer in answers)
    for answer in answers:
        yield f"{answer.name} (line {answer.line})" if seen[answer.name] > 1 else answer.name, answer


def _case(file: str, name: str, findings: Iterable[Finding], failing: Collection[Severity]) -> ET.Element:
    """One failure with every sentence: readers show the first of several only."""
    case = ET.Element("testcase", classname=file, name=name, file=file, time="0")
    wrong = [finding for finding in findings if finding.severity in failing]
    others = [finding for finding in findings if finding.severity not in failing]
    if wrong:
        first = wrong[0]
        failure = ET.SubElement(case, "failure", type=first.rule, message=first.sentence())
        failure.text = _lines(wrong)
    if others:
        ET.SubElement(case, "system-out").text = _lines(others)
    return case


def _lines(findings: Iterable[Finding]) -> str:
    return "\n".join(
        f"{one_line(each.file)}:{each.line}: {each.severity}: {each.sentence()} [{each.rule}]" for each in findings
    )
