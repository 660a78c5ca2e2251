"""Policies by name, as a user writes them: keda:24, kubeai, fixed:6."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

from llmservice.autoscaling.policy import Law, Reserve, ScalingPolicy
from llmservice.errors import UsageError
from llmservice.simulation.peers import aibrix, hindsight, hpa, kubeai, on_hpa, wva
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Decider, Replay, remembering


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedPolicy:
    """A policy under the name it was asked for, and how to play a load under it."""

    name: str
    play: Callable[[Trial], Replay]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of policy: what its name takes, and the policy with that; `default` None where it must be given.

    `largest` bounds a number that the name takes.
    """

    takes: str
    play: Callable[[Trial, float], Replay]
    default: float | None = None
    whole: bool = False
    largest: float = 1e6


def _on_period(make: Callable[[float, ScalingPolicy], Decider], seconds: float) -> Callable[[Trial, float], Replay]:
    return lambda trial, number: trial.replayed(make(number, trial.policy), period_seconds=seconds)


_NUMBERED = {
    "keda": _Kind(takes="requests per replica", play=_on_period(on_hpa.keda, hpa.SYNC_SECONDS)),
    "kubeai": _Kind(
        takes="requests per replica",
        play=_on_period(kubeai.kubeai, kubeai.INTERVAL_SECONDS),
        default=kubeai.DEFAULT_REQUESTS,
    ),
    "hpa-kv": _Kind(
        takes="KV-cache use per replica in percent",
        play=_on_period(on_hpa.hpa_on_kv_cache, hpa.SYNC_SECONDS),
        default=80.0,
        largest=100.0,
    ),
    "fixed": _Kind(
        takes="replicas",
        play=lambda trial, number: hindsight.fixed_fleet(trial, int(number)),
        whole=True,
        largest=1000,
    ),
}

_NAMED: dict[str, Callable[[Trial], Replay]] = {
    "wva": lambda trial: trial.replayed(wva.wva(trial.policy), period_seconds=hpa.SYNC_SECONDS),
    "aibrix": lambda trial: trial.replayed(aibrix.aibrix(trial.policy), period_seconds=aibrix.INTERVAL_SECONDS),
    "fixed:best": hindsight.smallest_fixed,
    "clairvoyant": hindsight.clairvoyant,
}

FORMS = (
    "learned[:Economy|Balanced|Safe]",
    "keda:N",
    "kubeai[:N]",
    "hpa-kv[:PERCENT]",
    "wva",
    "aibrix",
    "fixed:N",
    "fixed:best",
    "clairvoyant",
)
"""What names may look like."""


def named_policy(name: str) -> NamedPolicy:
    """The policy of this name. Raises UsageError that says what names there are, or what the name lacks."""
    if name in _NAMED:
        return NamedPolicy(name=name, play=_NAMED[name])
    kind, _, value = name.partition(":")
    if kind == "learned":
        return _learned(name, value)
    if kind not in _NUMBERED:
        raise UsageError("UnknownPolicy", f"{name}: no such policy: choose among {', '.join(FORMS)}")
    number = _number(name, value, _NUMBERED[kind])
    return NamedPolicy(name=f"{kind}:{number:g}", play=lambda trial: _NUMBERED[kind].play(trial, number))


def _learned(name: str, value: str) -> NamedPolicy:
    reserve = Reserve.BALANCED if not value else next((kind for kind in Reserve if kind.lower() == value.lower()), None)
    if reserve is None:
        raise UsageError("UnknownPolicy", f"{name}: {value} is no reserve: choose among {', '.join(Reserve)}")

    def play(trial: Trial) -> Replay:
        return trial.replayed(remembering(dataclasses.replace(trial.policy, law=Law.LEARNED, reserve=reserve)))

    return NamedPolicy(name=f"learned:{reserve}", play=play)


def _number(name: str, value: str, kind: _Kind) -> float:
    if not value and kind.default is not None:
        return kind.default
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number <= kind.largest or (kind.whole and number != int(number)):
        article = "a whole number" if kind.whole else "a number"
        raise UsageError(
            "InvalidPolicy", f"{name}: give {kind.takes} after the colon, {article} up to {kind.largest:g}"
        )
    return number
