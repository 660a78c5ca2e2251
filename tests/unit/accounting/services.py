"""A service as the accounting sees it: its pods, what their engines say, and a look every half minute."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from llmservice.accounting.ledger import Ledger
from llmservice.accounting.pods import HeldPod, Reading
from llmservice.accounting.sleep import Habits
from llmservice.accounting.statement import Tariff
from llmservice.accounting.usage import Kind, State

L4 = Kind("L4", "nvidia.com/gpu")
SLICE = Kind("", "nvidia.com/mig-1g.10gb")
UTC = ZoneInfo("UTC")
BERLIN = ZoneInfo("Europe/Berlin")
PERIOD = 30.0
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC).timestamp()


def prices(of: Mapping[Kind, float], *, zone: str = "UTC") -> Tariff:
    return Tariff(price=of.get, currency="EUR" if of else "", time_zone=zone)


@dataclass
class Service:
    """Pods that are bound at `since`, ready `start` seconds later, with a request whenever `busy` says so."""

    pods: dict[str, float] = field(default_factory=lambda: {"a": NOON})
    start: float = 60.0
    devices: int = 1
    zone: ZoneInfo = UTC
    habits: Habits = field(default_factory=Habits)
    busy: Callable[[float], bool] = lambda _: False
    readable: Callable[[float], bool] = lambda _: True
    ledger: Ledger = field(default_factory=lambda: Ledger(began=NOON))
    served: float = 0.0

    def run(self, begin: float, end: float, period: float = PERIOD) -> Ledger:
        """Look at it again and again."""
        now = begin
        while now <= end:
            self.look(now)
            now += period
        return self.ledger

    def look(self, now: float) -> Ledger:
        self.served += self.busy(now)
        pods = [self._pod(name, since, now) for name, since in self.pods.items() if since <= now]
        self.ledger = self.ledger.looked(pods, now, self.habits, self.zone)
        return self.ledger

    def _pod(self, name: str, since: float, now: float) -> HeldPod:
        ready = since + self.start if now >= since + self.start else None
        read = ready is not None and self.readable(now)
        reading = Reading(at=now, is_quiet=not self.busy(now), marks=(self.served,)) if read else None
        return HeldPod(uid=name, devices={L4: self.devices}, since=since, ready_since=ready, reading=reading)


def seconds(ledger: Ledger, state: State, kind: Kind = L4) -> float:
    """Of all days."""
    return sum(float(getattr(day[kind], state.value)) for day in ledger.days.values() if kind in day)


def held(ledger: Ledger) -> float:
    """Device-seconds of all days, whatever the devices did."""
    return sum(usage.held for day in ledger.days.values() for usage in day.values())


def asleep(ledger: Ledger) -> float:
    return sum(usage.asleep for day in ledger.days.values() for usage in day.values())
