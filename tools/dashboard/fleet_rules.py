"""Recording rules over the operator's own series: devices that are held, idle and waited for, and error budgets.

Both replicas of the operator export the series of a resource, so every expression takes the largest.
"""

from collections.abc import Iterator
from typing import Any

from tools.dashboard.rule import Rule, group

OBJECTIVE = 0.95
"""The share of requests that is to keep the objective: the rest is the error budget."""
SHORT_WINDOWS, LONG_WINDOWS = ("5m", "30m", "1h"), ("2h", "6h", "1d", "3d")
"""Those of the alerts on burn rates: https://sre.google/workbook/alerting-on-slos, table 5-8."""
WAITS = "InsufficientAccelerators|Unschedulable|RolloutBlocked"
"""Reasons of services that have replicas without a device."""

_OF_DEVICES = "namespace, name, accelerator, resource"
_OF_OBJECTIVE = "namespace, name, objective"
_BUDGET = round(1 - OBJECTIVE, 4)
_STEP = "5m"
_WITHOUT_DEVICE = f'max by (namespace, name) (llmservice_ready_reason{{status="False", reason=~"{WAITS}"}})'


def fleet_groups() -> list[dict[str, Any]]:
    """The groups of devices and objectives."""
    return [
        group("llmservice-devices", _devices()),
        group("llmservice-objectives", _burn_rates()),
        group("llmservice-objectives-long", _long_burn_rates(), interval=_STEP),
    ]


def burn_rate(window: str) -> str:
    """The name under which the burn rate over a window is recorded: 1 uses up the budget just in its time."""
    return f"llmservice:objective:burnrate{window}"


def _devices() -> Iterator[Rule]:
    desired, current, ready = map(_kind, ("desired", "current", "ready"))
    yield Rule("llmservice:devices:desired", desired)
    yield Rule("llmservice:devices:ready", ready)
    # Of a service with replicas that no node has room for, only those that are ready hold devices for sure.
    yield Rule("llmservice:devices:held", f"({current} unless on (namespace, name) {_WITHOUT_DEVICE}) or {ready}")
    yield Rule("llmservice:devices:waiting", f"({desired} - {ready} > 0) and on (namespace, name) {_WITHOUT_DEVICE}")
    held = "llmservice:requests_running + llmservice:requests_waiting"
    yield Rule("llmservice:requests_held", f"sum by (namespace, name) ({held})")
    unused = "max_over_time(llmservice:requests_held[10m]) == 0"
    yield Rule("llmservice:devices:idle", f"llmservice:devices:ready and on (namespace, name) {unused}")


def _kind(kind: str) -> str:
    return f'max by ({_OF_DEVICES}) (llmservice_devices{{kind="{kind}"}})'


def _burn_rates() -> Iterator[Rule]:
    yield Rule("llmservice:objective:requests1h", _increase("requests", "1h"))
    for window in SHORT_WINDOWS:
        over, held = _increase("violations", window), _increase("requests", window)
        yield Rule(burn_rate(window), f"{over} / ({held} > 0) / {_BUDGET}")


def _long_burn_rates() -> Iterator[Rule]:
    """From what each five minutes added: days of samples of every service would be too many to read at once."""
    parts = {name: f"llmservice:objective_{name}:increase{_STEP}" for name in ("violations", "requests")}
    for name, record in parts.items():
        yield Rule(record, _increase(name, _STEP))
    yield Rule("llmservice:objective:requests6h", f"sum_over_time({parts['requests']}[6h])")
    for window in LONG_WINDOWS:
        over, held = (f"sum_over_time({record}[{window}])" for record in parts.values())
        yield Rule(burn_rate(window), f"{over} / ({held} > 0) / {_BUDGET}")


def _increase(name: str, window: str) -> str:
    return f"sum by ({_OF_OBJECTIVE}) (increase(llmservice_objective_{name}_total[{window}]))"
