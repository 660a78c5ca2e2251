"""Every scenario under the policies, one setting for all: attainment @ average replicas / reversals an hour.

Run: python benchmarks/bench_replay.py --traces FOLDER [--seeds tuning] [--loads tuning] [--policies learned safe].
FOLDER holds the Azure 2023 traces (AzureLLMInferenceTrace_conv.csv and _code.csv, github.com/Azure/AzurePublicDataset,
CC-BY-4.0); without it only the scenarios that need none are run. 2 to 20 s of CPU a scenario and seed.

Constants of the laws are chosen by looking at the tuning loads and seeds alone (simulation/scenarios.py names them);
what is held out is for reporting. `best-fixed` and `best-running` look for the cheapest fixed fleet, and the largest
number of running requests per replica, that attain 0.99: what somebody who knows the load beforehand would pick.
Sum and worst are over the recorded scenarios that a service can follow.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from llmservice.autoscaling.policy import Law, Reserve, ScalingPolicy
from llmservice.planning.scaling_plan import LoadTargets
from llmservice.simulation.engine_profile import EngineProfile, engine_profile
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Replay, remembering
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import (
    HELD_OUT_LOADS,
    HELD_OUT_SEEDS,
    SCENARIOS,
    TRACKABLE,
    TUNING_LOADS,
    TUNING_SEEDS,
    Scenario,
    scenario,
    trace_of,
)
from llmservice.simulation.traces import read_trace

Changes = dict[str, object]
"""What of a policy differs from the default."""

POLICIES: dict[str, Changes] = {
    "learned": {},
    "economy": {"reserve": Reserve.ECONOMY},
    "safe": {"reserve": Reserve.SAFE},
    "blind": {"roofline": None},
    "threshold-kv-80-queue-4": {"law": Law.THRESHOLD, "targets": LoadTargets(kv_use=0.8, waiting=4.0)},
    "threshold-running-24": {"law": Law.THRESHOLD, "targets": LoadTargets(running=24.0, waiting=4.0)},
}
"""`blind` knows neither model nor device."""

LOADS = {"tuning": TUNING_LOADS, "held-out": HELD_OUT_LOADS, "recorded": TRACKABLE, "all": SCENARIOS}
SEEDS = {"tuning": TUNING_SEEDS, "held-out": HELD_OUT_SEEDS}

_WANTED = 0.99


def _fixed(replicas: int) -> Changes:
    return {"minimum": replicas, "maximum": replicas}


def _running(requests: int) -> Changes:
    return {"law": Law.THRESHOLD, "targets": LoadTargets(running=float(requests))}


SEARCHED: dict[str, tuple[Callable[[int], Changes], Sequence[int]]] = {
    "best-fixed": (_fixed, range(1, 33)),
    "best-running": (_running, (96, 64, 48, 40, 32, 28, 24, 20, 16, 14, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1)),
}
"""Families of policies, from the cheapest to the dearest member."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario under one policy, over all seeds."""

    attainment: float
    worst: float
    replicas: float
    reversals_per_hour: float


def policy_for(setting: Scenario, profile: EngineProfile, changes: Changes) -> ScalingPolicy:
    """The policy on this service: bounds and model are the service's, everything else is the same for all."""
    values: Changes = {
        "minimum": setting.minimum,
        "maximum": setting.maximum,
        "slots": profile.max_sequences,
        "roofline": profile.roofline,
    }
    return ScalingPolicy(**values | changes)  # type: ignore[arg-type]


def one(name: str, trace: Sequence[Arrival], seed: int, changes: Changes) -> Replay:
    """One scenario with one seed (of arrivals and of cold starts) under one policy."""
    setting = scenario(name, trace, seed=seed)
    policy = policy_for(setting, engine_profile(setting.profile), changes)
    trial = Trial(setting=setting, policy=policy, seed=seed)
    return trial.replayed(remembering(policy), first=policy.bounded(setting.first))


def summed_up(replays: Sequence[Replay]) -> Row:
    """Means over seeds."""
    count = len(replays)
    return Row(
        sum(done.attainment for done in replays) / count,
        min(done.attainment for done in replays),
        sum(done.average_replicas for done in replays) / count,
        sum(done.reversals for done in replays) / sum(done.hours for done in replays),
    )


def row(policy: str, name: str, trace: Sequence[Arrival], seeds: Sequence[int]) -> tuple[Row, str]:
    """A scenario under a policy, and which member of its family that was."""
    used = seeds[:1] if name == "ramp-34b" else seeds
    if policy in POLICIES:
        return summed_up([one(name, trace, seed, POLICIES[policy]) for seed in used]), ""
    make, members = SEARCHED[policy]
    cheap, dear, best = 0, len(members) - 1, None
    while cheap <= dear:
        middle = (cheap + dear) // 2
        found = summed_up([one(name, trace, seed, make(members[middle])) for seed in used])
        if found.attainment >= _WANTED:
            best, dear = (found, f"{members[middle]}"), middle - 1
        else:
            cheap = middle + 1
    return best or (found, "none attains it")


def table(policy: str, traces: Callable[[str], Sequence[Arrival]], loads: Sequence[str], seeds: Sequence[int]) -> None:
    """Run and print one policy."""
    began, rows = time.process_time(), dict[str, Row]()
    print(f"{policy}, seeds {' '.join(map(str, seeds))}")
    for name in loads:
        if trace_of(name) and not traces(name):
            continue
        rows[name], member = row(policy, name, traces(name), seeds)
        seen = rows[name]
        print(f"  {name:13} {seen.attainment:.4f} @ {seen.replicas:5.2f} / {seen.reversals_per_hour:4.1f}", end="   ")
        print(f"worst seed {seen.worst:.4f}   {member}", flush=True)
    if followed := [rows[name] for name in TRACKABLE if name in rows]:
        print(
            f"  recorded: sum {sum(row.replicas for row in followed):.2f}, "
            f"worst {min(row.attainment for row in followed):.4f}, "
            f"reversals {sum(row.reversals_per_hour for row in followed) / len(followed):.1f} an hour"
        )
    print(f"  {time.process_time() - began:.0f} s CPU\n")


def main() -> None:
    """Read the traces once and print every policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--seeds", nargs="+", default=["tuning"], help=f"{', '.join(SEEDS)}, or numbers")
    parser.add_argument("--loads", nargs="+", choices=[*LOADS, *SCENARIOS], default=["tuning"])
    parser.add_argument("--policies", nargs="+", choices=[*POLICIES, *SEARCHED], default=["learned"])
    options = parser.parse_args()
    kinds = ("conv", "code") if options.traces else ()
    files = {kind: read_trace(options.traces / f"AzureLLMInferenceTrace_{kind}.csv") for kind in kinds}
    loads = [name for given in options.loads for name in LOADS.get(given, (given,))]
    seeds = [seed for given in options.seeds for seed in SEEDS.get(given) or (int(given),)]
    for policy in options.policies:
        table(policy, lambda name: files.get(trace_of(name), ()), loads, seeds)


if __name__ == "__main__":
    main()
