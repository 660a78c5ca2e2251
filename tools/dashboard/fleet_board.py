"""How all services share the devices: who holds, wastes and waits for them, what they cost, and who needs help."""

from tools.dashboard.devices_row import DEVICES, devices
from tools.dashboard.fleet_rules import WAITS
from tools.dashboard.panel import Board, Panel, Query, condition, largest
from tools.dashboard.sleep_row import SLEEP

_STARTS, _PHASES = "llmservice_startup_phase_seconds", '{phase!="total"}'
_NOT_READY = largest("llmservice_ready_reason", 'status!="True"', by="namespace, name, reason")


HELP = (
    Panel(
        title="What waits for a device",
        meaning="Services with replicas that no node has room for, and how many devices they lack.",
        unit="none",
        queries=(Query(devices("waiting", "namespace, name, accelerator, resource")),),
        kind="table",
        width=12,
        value="devices",
    ),
    Panel(
        title="Who is not Ready, and why",
        meaning="By the condition Ready; docs/reference/reasons.md says what each reason means and what to do.",
        unit="none",
        queries=(Query(_NOT_READY),),
        kind="table",
        width=12,
    ),
    Panel(
        title="Not Ready by reason",
        meaning=f"Services; those that wait for a device have a reason of {WAITS.replace('|', ', ')}.",
        unit="none",
        queries=(Query(f"count by (reason) ({_NOT_READY})", "{{reason}}"),),
        stacked=True,
    ),
    Panel(
        title="Services: all, Ready, Stalled",
        meaning="Stalled ones wait for an edit.",
        unit="none",
        queries=(
            Query(f"count({largest('llmservice_info')})", "all"),
            Query(f"sum({condition('Ready')}) or vector(0)", "Ready"),
            Query(f"sum({condition('Stalled')}) or vector(0)", "Stalled"),
        ),
    ),
    Panel(
        title="Downloads that fail",
        meaning="Services whose last try to download the model failed.",
        unit="none",
        queries=(Query(f"sum({largest('llmservice_download_failing')}) or vector(0)", "failing"),),
    ),
    Panel(
        title="Starts by phase",
        meaning="Mean length of each phase of the starts of the last hour, all services of an engine together.",
        unit="s",
        queries=(
            Query(
                f"sum by (engine, phase) (rate({_STARTS}_sum{_PHASES}[1h]))"
                f" / sum by (engine, phase) (rate({_STARTS}_count{_PHASES}[1h]))",
                "{{engine}} {{phase}}",
            ),
        ),
        width=24,
    ),
)

BOARD = Board(
    uid="llmservice-fleet",
    title="LLMService: the fleet",
    meaning="How all services share the devices, what that costs, and who needs help.",
    rows={"Devices": DEVICES, "Who needs help": HELP, "Services that sleep": SLEEP},
    variables=("namespace", "service"),
)
