"""What one pod's devices did from one look at it to the next."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from llmservice.accounting.usage import Kind, State

STALE_SECONDS = 100.0
"""Between two readings: three rounds. What an engine did in a longer gap is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What an engine said of its work `at` a moment (seconds since 1970).

    `is_quiet`: no request ran or waited, at that moment or in a reading since the last look. `marks` are counters that
    any request moves.
    """

    at: float
    is_quiet: bool
    marks: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldPod:
    """A pod that is bound to a node. Times are in seconds since 1970.

    `devices` are those it asks for; `since` is when it was bound, `ready_since` when it became ready (None: it is not).
    `is_leaving`: it is being stopped, and finishes the requests it has. `reading` is one since the last look.
    """

    uid: str
    devices: Mapping[Kind, int]
    since: float
    ready_since: float | None = None
    is_leaving: bool = False
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Segment:
    """From `begin` to `end` all devices of a pod were in one state."""

    state: State
    begin: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PodAccount:
    """How far a pod is counted: `until`. `reading` is the last that was; `devices` are those it was first seen with.

    A pod keeps its devices: what is planned meanwhile is of the pods that come after it.
    """

    devices: Mapping[Kind, int]
    until: float
    reading: Reading | None = None
    segments: tuple[Segment, ...] = field(default=())
    """What the last look added."""

    @property
    def states(self) -> set[State]:
        """What the devices did since the look before."""
        return {segment.state for segment in self.segments}


def looked_at(account: PodAccount, pod: HeldPod, now: float) -> PodAccount:
    """The account after a look at the pod. An engine that is read is counted up to its last reading.

    | pod                                        | its devices are                                            |
    |--------------------------------------------|------------------------------------------------------------|
    | not ready                                  | starting                                                   |
    | read twice, at most 100 s apart            | idle if both were quiet and nothing moved, else busy       |
    | read once, or for the first time in long   | unknown until then                                         |
    | not read for 100 s, or leaving and unread  | unknown                                                    |
    """
    reading = pod.reading or account.reading
    fresh = reading if reading is not None and now - reading.at <= STALE_SECONDS else None
    segments = tuple(item for item in _segments(account, pod, fresh, now) if item.begin < item.end)
    until = max((item.end for item in segments), default=account.until)
    return PodAccount(devices=account.devices, until=until, reading=fresh, segments=segments)


def _segments(account: PodAccount, pod: HeldPod, reading: Reading | None, now: float) -> Iterator[Segment]:
    begin = account.until
    if pod.ready_since is None and not pod.is_leaving:
        yield Segment(State.STARTING, begin, now)
        return
    ready = min(max(pod.ready_since or begin, begin), now)
    yield Segment(State.STARTING, begin, ready)
    if reading is None:
        unread = now if pod.is_leaving or now - ready > STALE_SECONDS else ready
        yield Segment(State.UNKNOWN, ready, unread)
    else:
        yield Segment(_state(account.reading, reading), ready, min(reading.at, now))


def _state(last: Reading | None, reading: Reading) -> State:
    """What an engine did between two readings."""
    if last is None or reading.at - last.at > STALE_SECONDS:
        return State.UNKNOWN
    is_idle = last.is_quiet and reading.is_quiet and last.marks == reading.marks
    return State.IDLE if is_idle else State.BUSY
