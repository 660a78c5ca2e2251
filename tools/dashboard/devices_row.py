"""A row of the fleet's board: who holds, wastes and waits for devices, and what they cost."""

from llmservice.catalog.loader import load_catalogue
from tools.dashboard.panel import OF_SERVICES, Panel, Query

_PRICES = "max by (accelerator, resource) (llmservice_device_price_per_hour)"
_TYPE = "{{accelerator}}"
_IDLE = 'state="idle"'


def devices(kind: str, by: str = "accelerator") -> str:
    """Devices of a kind (desired, held, idle, waiting) of the chosen services."""
    return f"sum by ({by}) (llmservice:devices:{kind}{{{OF_SERVICES}}})"


def _in_all(kind: str) -> Query:
    return Query(f"sum(llmservice:devices:{kind}{{{OF_SERVICES}}}) or vector(0)")


def _cost(kind: str, by: str) -> str:
    """Per hour, by the prices of the catalogue; what has none is left out."""
    priced = devices(kind, "accelerator, resource, namespace")
    return f"sum by ({by}) ({priced} * on (accelerator, resource) group_left () {_PRICES})"


def _spent(by: str) -> str:
    return f"sum by ({by}) (increase(llmservice_cost_total{{{OF_SERVICES}}}[1d]))"


def _device_seconds(*labels: str) -> str:
    selectors = ", ".join((OF_SERVICES, *labels))
    return f"sum by (namespace, name) (increase(llmservice_device_seconds_total{{{selectors}}}[1d]))"


def _resources() -> str:
    """The resources of all devices in the catalogue, as kube-state-metrics writes them."""
    names = {row.resource_name for row in load_catalogue().accelerators.values()}
    return "|".join(sorted(name.translate(str.maketrans("/.-", "___")) for name in names))


DEVICES = (
    Panel(
        title="Devices asked for",
        meaning="Of the replicas that are desired.",
        unit="none",
        queries=(_in_all("desired"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Held",
        meaning="Of replicas that exist; of a service that waits for a device, of those that are ready.",
        unit="none",
        queries=(_in_all("held"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Idle",
        meaning="Of ready replicas of services that had no request for ten minutes.",
        unit="none",
        queries=(_in_all("idle"),),
        kind="stat",
        width=4,
        roles=("running",),
    ),
    Panel(
        title="Waited for",
        meaning="Of desired replicas that are not ready, of services that wait for a device.",
        unit="none",
        queries=(_in_all("waiting"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Cost per hour",
        meaning="Of the devices held that have a price in the catalogue, in its currency.",
        unit="none",
        queries=(Query(f"sum({_cost('held', 'accelerator')}) or vector(0)"),),
        kind="stat",
        width=4,
    ),
    Panel(
        title="Of it idle",
        meaning="What the devices of services without a request for ten minutes cost per hour.",
        unit="none",
        queries=(Query(f"sum({_cost('idle', 'accelerator')}) or vector(0)"),),
        kind="stat",
        width=4,
        roles=("running",),
    ),
    Panel(
        title="Devices by type",
        meaning="Asked for, held, and idle.",
        unit="none",
        queries=(
            Query(devices("desired"), f"{_TYPE} asked for"),
            Query(devices("held"), f"{_TYPE} held"),
            Query(devices("idle"), f"{_TYPE} idle"),
        ),
    ),
    Panel(
        title="Cost per hour by type",
        meaning="Of the devices held.",
        unit="none",
        queries=(Query(_cost("held", "accelerator"), _TYPE),),
        stacked=True,
    ),
    Panel(
        title="Cost per hour by namespace",
        meaning="Of the devices held.",
        unit="none",
        queries=(Query(_cost("held", "namespace"), "{{namespace}}"),),
        stacked=True,
    ),
    Panel(
        title="Spent in a day",
        meaning="By what pods held in the last 24 hours, in the currency of the catalogue.",
        unit="none",
        queries=(Query(_spent("namespace, name, currency")),),
        kind="table",
        width=12,
        value="spent",
    ),
    Panel(
        title="Idle share of a day",
        meaning="Of the time for which devices were held in the last 24 hours, how much had no request.",
        unit="percentunit",
        queries=(Query(f"{_device_seconds(_IDLE)} / on (namespace, name) ({_device_seconds()} > 0)"),),
        kind="table",
        width=12,
        value="idle",
        roles=("running",),
    ),
    Panel(
        title="What devices do",
        meaning="Devices by state: busy, idle (ready, without a request), starting (not ready), unknown (not read).",
        unit="none",
        queries=(
            Query(
                f"sum by (state) (rate(llmservice_device_seconds_total{{{OF_SERVICES}}}[5m]))",
                "{{state}}",
            ),
        ),
        width=24,
        stacked=True,
    ),
    Panel(
        title="Devices of the nodes",
        meaning="What all nodes have, and what all pods ask for, ours or not. Needs kube-state-metrics.",
        unit="none",
        queries=(
            Query(
                f'sum by (resource) (kube_node_status_allocatable{{resource=~"{_resources()}"}})', "{{resource}} there"
            ),
            Query(
                f'sum by (resource) (kube_pod_container_resource_requests{{resource=~"{_resources()}"}})',
                "{{resource}} asked for",
            ),
        ),
        width=12,
    ),
    Panel(
        title="Generated tokens per device",
        meaning="Tokens a second, of services that hold devices.",
        unit="none",
        queries=(
            Query(
                f"sum by (namespace, name) (llmservice:generated_tokens:rate5m{{{OF_SERVICES}}})"
                f" / on (namespace, name) {devices('held', 'namespace, name')}",
                "{{namespace}}/{{name}}",
            ),
        ),
        width=12,
        roles=("generated_tokens",),
    ),
)
