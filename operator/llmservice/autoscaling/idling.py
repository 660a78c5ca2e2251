"""When a service goes to zero replicas, and what brings it back.

It goes when nobody asked anything for a while, by the engines' own counters: while every replica could be read, none of
them had a request, and none had counted anything more. What cannot be read neither proves rest nor load. The laws know
nothing of it: they decide among one replica and more.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.autoscaling.decision import Decision, Vote
from llmservice.autoscaling.snapshot import Phase, Snapshot

_STARTS = 10
_SHORTEST_SECONDS, _LONGEST_SECONDS = 300.0, 3600.0
_UNKNOWN_START_SECONDS = 600.0
_STEP = "idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a service may do at this moment.

    `allowed`: it need not run a replica now. `after_seconds` without a request it sleeps. `covered`: requests that come
    from now on are held, so that none is lost when the last replica goes. `asked_at` is when somebody last asked for it
    to be woken, in seconds since 1970.
    """

    allowed: bool
    after_seconds: float
    covered: bool = False
    asked_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Idleness:
    """What is remembered of a service's rest; times in seconds since 1970.

    `quiet_since`: since when no request came, None while some do; `counted` is a digest of what the engines had counted
    then. `going`: it is to sleep as soon as requests are held. `asleep_since`: since when it sleeps, None while it does
    not.
    """

    quiet_since: float | None = None
    counted: str = ""
    going: bool = False
    asleep_since: float | None = None


def idle_after_seconds(asked: float | None, start_seconds: float | None) -> float:
    """Seconds without a request after which a service sleeps: what was asked for, else by what a start costs."""
    if asked is not None:
        return asked
    if start_seconds is None:
        return _UNKNOWN_START_SECONDS
    return min(max(_STARTS * start_seconds, _SHORTEST_SECONDS), _LONGEST_SECONDS)


def asleep(rest: Rest, snapshot: Snapshot, before: Idleness, now: float) -> tuple[Decision, Idleness] | None:
    """What becomes of a service that has no replica; None where it has one, or must have.

    Who set it to zero does not matter. A held request wakes it, and so does somebody who asked for it since it slept.
    """
    if snapshot.replicas or not rest.allowed:
        return None
    since = now if before.asleep_since is None else before.asleep_since
    if waker := _waker(rest, snapshot, since):
        return _decision(1, Reason.WOKEN, f"0 → 1: {waker}", waker), Idleness()
    message = "no replica runs, because nobody asks anything; the first request starts one"
    return _decision(0, Reason.ASLEEP, f"0: {message}", message), Idleness(asleep_since=since)


def awake(rest: Rest, snapshot: Snapshot, decided: Decision, before: Idleness, now: float) -> tuple[Decision, Idleness]:
    """What a law decided of a service that has replicas, or zero where it has rested for long enough.

    | this round                                | then                                                        |
    |-------------------------------------------|-------------------------------------------------------------|
    | a request runs, waits or is held          | the law's decision; the rest begins anew                    |
    | a replica starts, or could not be read    | the law's decision; neither rest nor load                   |
    | a counter moved since the rest began      | the law's decision; the rest begins anew                    |
    | quiet, not for long enough                | the law's decision                                          |
    | quiet for long enough, nothing holds yet  | the law's decision; the holding is to begin                 |
    | quiet for long enough, requests are held  | zero                                                        |
    """
    idleness = _observed(rest, snapshot, before, now)
    if not rest.allowed:
        return decided, replace(idleness, going=False)
    if idleness.quiet_since is None or not _is_read(snapshot):
        return decided, idleness
    quiet = now - idleness.quiet_since
    if quiet < rest.after_seconds:
        return decided, replace(idleness, going=False)
    why = f"no request for {quiet:.0f} s, which is longer than {rest.after_seconds:.0f} s"
    if not rest.covered:
        waits = Vote(step=_STEP, replicas=0.0, message=f"{why}; waits until an activator holds what comes")
        return replace(decided, trace=(*decided.trace, waits)), replace(idleness, going=True)
    return _decision(0, Reason.IDLE, f"{snapshot.replicas} → 0: {why}", why), Idleness(asleep_since=now)


def _waker(rest: Rest, snapshot: Snapshot, since: float) -> str:
    """Who wakes it; empty where nobody does."""
    if snapshot.gated:
        return f"{snapshot.gated:.0f} request{'s are' if snapshot.gated > 1 else ' is'} held"
    if rest.asked_at is not None and rest.asked_at > since:
        return "somebody asked for it"
    return ""


def _observed(rest: Rest, snapshot: Snapshot, before: Idleness, now: float) -> Idleness:
    """Since when it is quiet, after this round."""
    if snapshot.gated or snapshot.running or snapshot.waiting:
        return Idleness()
    if not _is_read(snapshot):
        return replace(before, asleep_since=None)
    counted = _counted(snapshot)
    goes_on = before.quiet_since is not None and before.counted == counted and before.quiet_since <= now
    since = before.quiet_since if goes_on and before.quiet_since is not None else now
    if rest.asked_at is not None and rest.asked_at > since:
        since, goes_on = min(rest.asked_at, now), False
    return Idleness(quiet_since=since, counted=counted, going=before.going and goes_on)


def _is_read(snapshot: Snapshot) -> bool:
    """Whether every replica asked for is there and was read, with counters."""
    read = all(each.phase is Phase.READY and each.counted is not None for each in snapshot.members)
    return read and 0 < snapshot.replicas == len(snapshot.members)


def _counted(snapshot: Snapshot) -> str:
    return hashlib.blake2b("\n".join(_lines(snapshot)).encode(), digest_size=6).hexdigest()


def _lines(snapshot: Snapshot) -> Iterator[str]:
    for replica in snapshot.ready:
        yield f"{replica.name} {replica.counted}"


def _decision(replicas: int, reason: Reason, message: str, why: str) -> Decision:
    vote = Vote(step=_STEP, replicas=float(replicas), message=why)
    return Decision(replicas=replicas, reason=reason, message=message, target=replicas, trace=(vote,))
