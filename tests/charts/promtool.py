"""Prometheus' own tool: its parser, and its clock for alerts."""

import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.chart.copies import alerts
from tools.dashboard.recording import recording_rules


@dataclass(frozen=True)
class Moment:
    """Series, in promtool's notation a sample a minute (`{"up": "1x20"}`), and when to look."""

    series: dict[str, str]
    minutes: int


def complaint_about(expressions: Sequence[str], folder: Path) -> str:
    """What Prometheus' parser says about expressions; empty when nothing."""
    rules = [{"record": f"checked:{number}", "expr": text} for number, text in enumerate(expressions)]
    file = folder / "rules.yaml"
    file.write_text(json.dumps({"groups": [{"name": "checked", "rules": rules}]}))
    return _complaint("check", "rules", "--lint=none", str(file))


def firing(moment: Moment, folder: Path) -> list[str]:
    """The alerts that fire at the moment, by name, one for each set of labels."""
    (folder / "alerts.yaml").write_text(alerts())
    (folder / "records.yaml").write_text(recording_rules())
    # Prometheus writes what fires as a series of its own; the test asks for nothing and reads what was there instead.
    question: Any = {"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{moment.minutes}m", "exp_samples": []}
    series = [{"series": name, "values": values} for name, values in moment.series.items()]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": [question]}
    file = folder / "test.yaml"
    file.write_text(
        json.dumps({"rule_files": ["records.yaml", "alerts.yaml"], "evaluation_interval": "1m", "tests": [test]})
    )
    return sorted(re.findall(r'alertname="(\w+)"', _complaint("test", "rules", str(file))))


def difference(moment: Moment, expected: dict[str, float], folder: Path) -> str:
    """What Prometheus says where recorded series are not as expected (`{'a:b{name="chat"}': 2.0}`); empty: they are."""
    (folder / "records.yaml").write_text(recording_rules())
    questions = [
        {"expr": name, "eval_time": f"{moment.minutes}m", "exp_samples": [{"labels": name, "value": value}]}
        for name, value in expected.items()
    ]
    series = [{"series": name, "values": values} for name, values in moment.series.items()]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": questions}
    file = folder / "test.yaml"
    file.write_text(json.dumps({"rule_files": ["records.yaml"], "evaluation_interval": "1m", "tests": [test]}))
    return _complaint("test", "rules", str(file))


def _complaint(*arguments: str) -> str:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60, check=False)  # noqa: S603, S607
    return "" if done.returncode == 0 else done.stdout + done.stderr
