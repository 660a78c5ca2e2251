"""The page of alerts, from the rules themselves: what each means and what to do."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from tools.chart.copies import alerts

_HEAD = """\
# Alerts

Written from the rules by `make docs`. They are installed with the chart (`monitoring.prometheusRule.enabled`) or with
`manifests/components/monitoring`; how boards and alerts are read says [the guide](../how-to/dashboards.md). Each alert
links to its section here (`runbook_url`).
"""


def alerts_page() -> str:
    """The page as Markdown; the anchor of an alert is its name in small letters."""
    rules = [rule for group in yaml.safe_load(alerts())["groups"] for rule in group["rules"]]
    sections = ("\n".join(_section(rule)) for rule in sorted(rules, key=lambda rule: str(rule["alert"])))
    return _HEAD + "".join(f"\n{section}\n" for section in sections)


def _section(rule: Mapping[str, Any]) -> Iterator[str]:
    notes = rule["annotations"]
    lasting = f", after it has held for {_span(rule['for'])}" if "for" in rule else ""
    yield f"## {rule['alert']}\n"
    yield f"{_words(notes['summary'])}\n"
    yield f"**Severity** {rule['labels']['severity']}{lasting}.\n"
    yield f"**What to do** {notes['runbook']}\n"
    yield f"```promql\n{rule['expr'].strip()}\n```"


def _span(text: str) -> str:
    return f"{text.removesuffix('m')} minutes"


def _words(summary: str) -> str:
    """The sentence without Prometheus' placeholders: `{{ $labels.name }}` → *name*, a value → *value*."""
    words = summary.replace("{{ $labels.", "*").replace("{{ $value", "*value")
    for formatting in (" | humanizeDuration", " | humanizePercentage", " | humanize"):
        words = words.replace(formatting, "")
    return words.replace(" }}", "*")
