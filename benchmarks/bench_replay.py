"""Every scenario under the policies, one setting for all: attainment @ average replicas / reversals an hour.

Run: python benchmarks/bench_replay.py --traces FOLDER [--seeds 0 1] [--policies learned safe]. FOLDER holds the Azure
2023 traces (AzureLLMInferenceTrace_conv.csv and _code.csv, github.com/Azure/AzurePublicDataset, CC-BY-4.0); without it
only the scenarios that need none are run. About 2 s of CPU a scenario and seed. Sum and worst are over the scenarios
that a service can follow.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from llmservice.autoscaling.policy import Law, Reserve, ScalingPolicy
from llmservice.planning.service_plan import LoadTargets
from llmservice.simulation.engine_profile import EngineProfile, engine_profile
from llmservice.simulation.fleet import Fleet
from llmservice.simulation.replaying import Replay, remembering, replay
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import SCENARIOS, TRACKABLE, Scenario, scenario, trace_of
from llmservice.simulation.traces import read_trace

POLICIES: dict[str, dict[str, object]] = {
    "learned": {},
    "economy": {"reserve": Reserve.ECONOMY},
    "safe": {"reserve": Reserve.SAFE},
    "blind": {"roofline": None},
    "threshold-kv-80-queue-4": {"law": Law.THRESHOLD, "targets": LoadTargets(kv_use=0.8, waiting=4.0)},
    "threshold-running-24": {"law": Law.THRESHOLD, "targets": LoadTargets(running=24.0, waiting=4.0)},
}
"""What differs from the default; `blind` knows neither model nor device."""


@dataclass(frozen=True, slots=True)
class Row:
    """One scenario under one policy, over all seeds."""

    attainment: float
    worst: float
    replicas: float
    reversals_per_hour: float


def policy_for(setting: Scenario, profile: EngineProfile, changes: dict[str, object]) -> ScalingPolicy:
    """The policy on this service: bounds and model are the service's, everything else is the same for all."""
    values: dict[str, object] = {
        "minimum": setting.minimum,
        "maximum": setting.maximum,
        "slots": profile.max_sequences,
        "roofline": profile.roofline,
    }
    return ScalingPolicy(**values | changes)  # type: ignore[arg-type]


def one(name: str, trace: Sequence[Arrival], seed: int, changes: dict[str, object]) -> Replay:
    """One scenario with one seed (of arrivals and of cold starts) under one policy."""
    setting = scenario(name, trace, seed=seed)
    profile = engine_profile(setting.profile)
    policy = policy_for(setting, profile, changes)
    fleet = Fleet(profile, setting.cold_start_seconds, setting.first, seed=seed)
    return replay(
        setting.arrivals, fleet, remembering(policy), objective=policy.objective, start=setting.warm_up_seconds
    )


def summed_up(replays: Sequence[Replay]) -> Row:
    """Means over seeds."""
    count = len(replays)
    return Row(
        sum(done.attainment for done in replays) / count,
        min(done.attainment for done in replays),
        sum(done.average_replicas for done in replays) / count,
        sum(done.reversals for done in replays) / sum(done.hours for done in replays),
    )


def table(policy: str, traces: Callable[[str], Sequence[Arrival]], seeds: Sequence[int]) -> None:
    """Run and print one policy."""
    began, rows = time.process_time(), dict[str, Row]()
    for name in SCENARIOS:
        if trace_of(name) and not traces(name):
            continue
        used = seeds[:1] if name == "ramp-34b" else seeds
        rows[name] = summed_up([one(name, traces(name), seed, POLICIES[policy]) for seed in used])
        row = rows[name]
        print(f"  {name:10} {row.attainment:.4f} @ {row.replicas:5.2f} / {row.reversals_per_hour:4.1f}", end="   ")
        print(f"worst seed {row.worst:.4f}")
    followed = [rows[name] for name in TRACKABLE if name in rows]
    print(
        f"{policy}: sum {sum(row.replicas for row in followed):.2f}, "
        f"worst {min(row.attainment for row in followed):.4f}, "
        f"reversals {sum(row.reversals_per_hour for row in followed) / len(followed):.1f} an hour; "
        f"{time.process_time() - began:.0f} s CPU\n"
    )


def main() -> None:
    """Read the traces once and print every policy."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=["learned"])
    options = parser.parse_args()
    kinds = ("conv", "code") if options.traces else ()
    files = {kind: read_trace(options.traces / f"AzureLLMInferenceTrace_{kind}.csv") for kind in kinds}
    for policy in options.policies:
        table(policy, lambda name: files.get(trace_of(name), ()), options.seeds)


if __name__ == "__main__":
    main()
