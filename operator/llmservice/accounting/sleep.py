"""What sleeping at zero replicas would save: the time that a service is idle for longer than it would stay awake."""

from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from llmservice.accounting.pods import HeldPod, PodAccount
from llmservice.accounting.usage import Days, Kind, State, slept, woken


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which no replica had a request, `since` a moment; it is counted as sleep `until` (None: not yet)."""

    since: float
    until: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """When the service would go to sleep, and for how long a start holds a replica's devices; both in seconds."""

    idle_after: float = 600.0
    start: float = 0.0


def followed(
    stretch: Stretch | None,
    days: Days,
    pods: Mapping[str, HeldPod],
    accounts: Mapping[str, PodAccount],
    habits: Habits,
    zone: ZoneInfo,
) -> tuple[Stretch | None, Days]:
    """The stretch after a look at the pods (both by UID), and the days with what sleeping in it would have saved.

    Whatever is not known to be idle ends a stretch. A sleep that ends costs a start of one replica.
    """
    ready = [accounts[uid] for uid, pod in pods.items() if pod.ready_since is not None and not pod.is_leaving]
    states = set[State]().union(*(account.states for account in accounts.values()))
    if not ready or states & {State.BUSY, State.UNKNOWN} or any(account.reading is None for account in ready):
        return None, _ended(stretch, days, ready or [*accounts.values()], habits, zone)
    idle = [(each, item) for each in accounts.values() for item in each.segments if item.state is State.IDLE]
    if stretch is None:
        is_quiet = len({id(each) for each, _ in idle}) == len(ready)
        return (Stretch(max(item.begin for _, item in idle)) if is_quiet else None), days
    asleep_from, until = stretch.since + habits.idle_after, stretch.until
    for account, item in idle:
        begin = max(item.begin, asleep_from)
        if begin < item.end:
            until = max(until or begin, item.end)
            for kind, devices in account.devices.items():
                days = slept(days, kind, devices, begin, item.end, zone)
    return Stretch(stretch.since, until), days


def _ended(stretch: Stretch | None, days: Days, accounts: list[PodAccount], habits: Habits, zone: ZoneInfo) -> Days:
    if stretch is None or stretch.until is None or not accounts:
        return days
    devices: Mapping[Kind, int] = accounts[0].devices
    for kind, count in devices.items():
        days = woken(days, kind, habits.start * count, stretch.until, zone)
    return days
