"""The account of one service: which devices it holds, and what they did today and yesterday."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from zoneinfo import ZoneInfo

from llmservice.accounting.days import begin_of, day_at, day_before
from llmservice.accounting.pods import STALE_SECONDS, HeldPod, PodAccount, Segment, looked_at
from llmservice.accounting.sleep import Habits, Stretch, followed
from llmservice.accounting.usage import Days, Kind, State, counted, last_two

_STEP_BACK_SECONDS = 3600.0
"""A clock that was ahead by more is not waited for until its time comes again."""
_UTC = ZoneInfo("UTC")
Totals = Mapping[tuple[Kind, State], float]
"""Device-seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What was counted, as a value: each look makes a new one. Times are in seconds since 1970.

    `last_look` is when somebody looked last, in this process or before it: a pod that was not seen then is counted from
    there, and what another process did not count is unknown. `totals` are those of this process, which `began` then.
    Every moment of a pod is counted once, so what is counted never exceeds the time by the clock; a clock that steps
    back is waited for, up to an hour.
    """

    began: float
    days: Days = field(default_factory=dict)
    last_look: float = 0.0
    pods: Mapping[str, PodAccount] = field(default_factory=dict)
    totals: Totals = field(default_factory=dict)
    stretch: Stretch | None = None

    @property
    def devices(self) -> Mapping[Kind, int]:
        """The devices that are held now."""
        held: Counter[Kind] = Counter()
        for account in self.pods.values():
            held.update(account.devices)
        return held

    def looked(self, pods: Iterable[HeldPod], now: float, habits: Habits, zone: ZoneInfo = _UTC) -> "Ledger":
        """After a look at all pods that hold devices. What another look does not find is counted no further."""
        held = {pod.uid: pod for pod in pods if pod.devices}
        accounts = {uid: looked_at(self._account(pod, now, zone), pod, now) for uid, pod in held.items()}
        days, totals = self._with(accounts.values(), zone)
        stretch, days = followed(self.stretch, days, held, accounts, habits, zone)
        return replace(
            self,
            pods=accounts,
            days=last_two(days, now, zone),
            totals=totals,
            stretch=stretch,
            last_look=self.counted_until(now),
        )

    def counted_until(self, now: float) -> float:
        """The moment up to which nothing is counted again: where the clock stepped back, one that is still to come."""
        return max(now, self._last_look(now))

    def without(self, uid: str, now: float, zone: ZoneInfo = _UTC) -> "Ledger":
        """After a pod has gone: its last seconds are as those before them, unknown where nothing was known of them."""
        account = self.pods.get(uid)
        if account is None:
            return self
        is_known = account.segments and now - account.until <= STALE_SECONDS
        state = account.segments[-1].state if is_known else State.UNKNOWN
        last = replace(account, segments=tuple(_last(account, state, now)))
        days, totals = self._with([last], zone)
        pods = {other: each for other, each in self.pods.items() if other != uid}
        return replace(self, pods=pods, days=last_two(days, now, zone), totals=totals)

    def _account(self, pod: HeldPod, now: float, zone: ZoneInfo) -> PodAccount:
        known = self.pods.get(pod.uid)
        if known is not None:
            return replace(known, until=now) if known.until > now + _STEP_BACK_SECONDS else known
        oldest = begin_of(day_before(day_at(now, zone)), zone)
        return PodAccount(devices=pod.devices, until=max(min(pod.since, now), self._last_look(now), oldest))

    def _last_look(self, now: float) -> float:
        return self.last_look if self.last_look <= now + _STEP_BACK_SECONDS else now

    def _with(self, accounts: Iterable[PodAccount], zone: ZoneInfo) -> tuple[Days, Totals]:
        """The days and totals with what the last look at these pods added."""
        days, totals = self.days, dict(self.totals)
        for account in accounts:
            for kind, devices in account.devices.items():
                for part in account.segments:
                    days = counted(days, kind, part.state, devices, part.begin, part.end, zone)
                    seconds = max(0.0, part.end - max(part.begin, self.began)) * devices
                    totals[kind, part.state] = totals.get((kind, part.state), 0.0) + seconds
        return days, totals


def _last(account: PodAccount, state: State, now: float) -> Iterable[Segment]:
    if account.until < now:
        yield Segment(state, account.until, now)
