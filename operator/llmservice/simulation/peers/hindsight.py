"""What could have been attained: schedules and fixed fleets that know the whole load beforehand.

Neither can be run. They say how much of a policy's cost the load itself asks for.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import accumulate

from llmservice.autoscaling.decision import Decision
from llmservice.autoscaling.snapshot import Snapshot
from llmservice.simulation.engine_profile import EngineProfile
from llmservice.simulation.fleet import COLD_START_SPREAD
from llmservice.simulation.peers.deciding import decided
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Decider, Replay
from llmservice.simulation.request import Arrival

GOAL = 0.99
"""Share of requests within the objective that a bound must attain."""

_BIN_SECONDS = 10.0
_SMOOTHING_BINS = (6, 18)
"""The load is averaged over one minute and over three."""

_UTILIZATION = (0.1, 2.0)
_HALVINGS, _MORE_HALVINGS = 7, 4
_DECODE_BATCH = 64


def clairvoyant(trial: Trial) -> Replay:
    """The cheapest of a family of schedules that attains the goal; the one that attains most where none does.

    A schedule starts replicas one (longest) cold start before smoothed future load needs them at a given utilization,
    and keeps them through valleys shorter than that. Family: two smoothing windows, utilization by bisection, about a
    dozen replays. So the true optimum is at most this expensive; nothing proves that it is not cheaper.
    """
    work = _work(trial)
    low, high = _UTILIZATION
    found = list[Replay]()
    for window in _SMOOTHING_BINS:
        smooth = _smoothed(work, window)
        steps = _MORE_HALVINGS if found else _HALVINGS
        replays, low, high = _bisected(partial(_scheduled, trial, smooth), low, high, steps)
        found += replays
        low, high = low * 0.85, high * 1.15
    return cheapest(found)


def smallest_fixed(trial: Trial) -> Replay:
    """The smallest fleet of a fixed number within the bounds that attains the goal; the largest where none does."""
    low, high = trial.policy.minimum, trial.policy.maximum
    found = list[Replay]()
    while low < high:
        middle = (low + high) // 2
        found.append(fixed_fleet(trial, middle))
        low, high = (low, middle) if found[-1].attainment >= GOAL else (middle + 1, high)
    if all(done.attainment < GOAL for done in found):
        found.append(fixed_fleet(trial, high))
    return cheapest(found)


def fixed_fleet(trial: Trial, replicas: int) -> Replay:
    """So many replicas from the beginning to the end."""
    return trial.replayed(lambda _, __: decided(replicas, replicas, "fixed"), first=replicas)


def cheapest(replays: Iterable[Replay]) -> Replay:
    """The one that attains the goal with the fewest replica-seconds; else the one that attains most."""
    return max(replays, key=lambda done: (min(done.attainment, GOAL), -done.replica_seconds))


def work_seconds(arrival: Arrival, profile: EngineProfile) -> float:
    """Seconds that a request keeps a busy engine: its prompt in full batches, its answer in a batch of 64."""
    prompt, output = arrival.prompt_tokens, arrival.output_tokens
    full = profile.max_batched_tokens
    per_prompt_token = profile.step_seconds[full] / full
    batch = min(_DECODE_BATCH, full, profile.max_sequences)
    per_output_token = profile.step_seconds[batch] / batch + profile.kv_read_seconds * (prompt + output / 2)
    return prompt * per_prompt_token + prompt * prompt / 2 * profile.attention_seconds + output * per_output_token


def _work(trial: Trial) -> list[float]:
    """Seconds of work that arrive in each bin."""
    arrivals, profile = trial.setting.arrivals, trial.profile
    bins = [0.0] * (int(arrivals[-1].at // _BIN_SECONDS) + 1)
    for arrival in arrivals:
        bins[int(arrival.at // _BIN_SECONDS)] += work_seconds(arrival, profile)
    return bins


def _smoothed(values: Sequence[float], window: int) -> list[float]:
    """The mean over a window around each bin."""
    sums = [0.0, *accumulate(values)]
    edges = ((max(0, at - window // 2), min(len(values), at + window - window // 2)) for at in range(len(values)))
    return [(sums[end] - sums[begin]) / (end - begin) for begin, end in edges]


def _scheduled(trial: Trial, work: Sequence[float], utilization: float) -> Replay:
    """The load under the schedule for this utilization of each replica."""
    lead = math.ceil(trial.setting.cold_start_seconds * (1 + COLD_START_SPREAD) / _BIN_SECONDS)
    needed = [trial.policy.bounded(math.ceil(each / _BIN_SECONDS / utilization)) for each in work]
    asked = [max(needed[at : at + lead + 1]) for at in range(len(needed))]
    return trial.replayed(_following(asked), first=asked[0])


def _following(schedule: Sequence[int]) -> Decider:
    def decide(snapshot: Snapshot, now: float) -> Decision:
        replicas = schedule[min(len(schedule) - 1, int(now // _BIN_SECONDS))]
        return decided(snapshot.replicas, replicas, "scheduled with knowledge of the whole load")

    return decide


def _bisected(
    played: Callable[[float], Replay], low: float, high: float, steps: int
) -> tuple[list[Replay], float, float]:
    """Replays on the way to the largest utilization that attains the goal, and what encloses it."""
    found = list[Replay]()
    for _ in range(steps):
        middle = math.sqrt(low * high)
        found.append(played(middle))
        low, high = (middle, high) if found[-1].attainment >= GOAL else (low, middle)
    return found, low, high
