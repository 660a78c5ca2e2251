"""Our laws beside what users would otherwise run, on the same loads: writes docs/reference/policies.md and its plots.

Run: python benchmarks/bench_policies.py --traces FOLDER. FOLDER holds the Azure 2023 traces (see bench_replay.py);
without it the other loads are played and nothing is written. Figures stay in docs/reference/policies.json, so that one
policy can be played anew (--policies learned:Balanced) and a run that was cut off goes on (--resume). 2 to 20 s of CPU
a policy, load and seed. --choose plays what the settings of KEDA and KubeAI were chosen from.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.policies_figures import Figures, Played
from benchmarks.policies_page import page
from benchmarks.policies_plot import draw_summary
from llmservice.autoscaling.policy import Law, ScalingPolicy
from llmservice.cli.replay_chart import chart, save
from llmservice.planning.service_plan import LoadTargets
from llmservice.simulation.engine_profile import engine_profile
from llmservice.simulation.peers.registry import NamedPolicy, named_policy
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Replay, remembering
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import SCENARIOS, TRACKABLE, scenario, trace_of
from llmservice.simulation.traces import read_trace

DOCS = Path(__file__).parents[1] / "docs" / "reference"
SEEDS = (11,)
THRESHOLD = "threshold"
HINDSIGHT = ("fixed:best", "clairvoyant")
POLICIES = (
    *("learned:Economy", "learned:Balanced", "learned:Safe", THRESHOLD),
    *("keda:24", "keda:32", "kubeai:8", "kubeai:24", "hpa-kv:80", "wva", "aibrix"),
    *HINDSIGHT,
)
CANDIDATES = tuple(f"{kind}:{requests}" for kind in ("keda", "kubeai") for requests in (8, 16, 24, 32, 48))
CHOSEN_ON = (TRACKABLE, (0,))
"""Loads and seeds on which one setting of KEDA and of KubeAI is chosen: seeds that the page does not use."""

GROUPS = {"recorded loads that a service can follow": TRACKABLE}
"""What figures are summed over."""

DRAWN = ("ramp-34b", ("learned:Balanced", "keda:24", "kubeai:24", "wva", "clairvoyant"))
"""The load that is drawn over time, and under which policies."""

LONGEST_SEARCH_SECONDS = 7200.0
"""Hindsight needs about a dozen replays; on loads longer than this it is left out."""

Traces = Mapping[str, Sequence[Arrival]]


def policy_of(name: str) -> NamedPolicy:
    """The policy of this name; Threshold as an operator's user would set it for chat."""
    return NamedPolicy(name=name, play=_threshold) if name == THRESHOLD else named_policy(name)


def _threshold(trial: Trial) -> Replay:
    targets = LoadTargets(kv_use=0.8, waiting=4.0)
    return trial.replayed(remembering(dataclasses.replace(trial.policy, law=Law.THRESHOLD, targets=targets)))


def trial_of(load: str, traces: Traces, seed: int) -> Trial:
    """A load with this seed. The policy knows neither model nor device, as in the operator."""
    setting = scenario(load, traces.get(trace_of(load), ()), seed=seed)
    slots = engine_profile(setting.profile).max_sequences
    policy = ScalingPolicy(minimum=setting.minimum, maximum=setting.maximum, slots=slots)
    return Trial(setting=setting, policy=policy, seed=seed)


@dataclass(slots=True)
class Results:
    """Figures by policy, load and seed, in a file that is written after each of them."""

    path: Path
    played: Played = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "Results":
        """What an earlier run left."""
        return cls(path=path, played=json.loads(path.read_text("utf-8")) if path.exists() else {})

    def add(self, policy: str, load: str, seed: int, figures: Figures) -> None:
        """Keep and write it."""
        self.played.setdefault(policy, {}).setdefault(load, {})[str(seed)] = figures
        self.path.write_text(json.dumps(self.played, indent=1, sort_keys=True) + "\n", "utf-8")

    def has(self, policy: str, load: str, seed: int) -> bool:
        """Whether it was played."""
        return str(seed) in self.played.get(policy, {}).get(load, {})


def figures_of(done: Replay) -> Figures:
    """What the page tells of a replay."""
    return {
        "attainment": round(done.attainment, 5),
        "replicas": round(done.average_replicas, 4),
        "replica_hours": round(done.replica_seconds / 3600, 4),
        "reversals": done.reversals,
        "hours": round(done.hours, 4),
    }


def play_all(
    policies: Iterable[str], trials: Iterable[tuple[str, int, Trial]], skip: Callable[[str, str, int], bool]
) -> Iterable[tuple[str, str, int, Figures]]:
    """Every policy on every load, one after another, each told as it ends."""
    names = tuple(policies)
    for load, seed, trial in trials:
        long = trial.setting.arrivals[-1].at > LONGEST_SEARCH_SECONDS
        for name in names:
            if skip(name, load, seed) or (long and name in HINDSIGHT):
                continue
            began = time.process_time()
            figures = figures_of(policy_of(name).play(trial))
            took = time.process_time() - began
            print(f"{load:14} seed {seed:<3} {name:17} {told(figures)}   {took:5.1f} s CPU", flush=True)
            yield name, load, seed, figures


def told(figures: Figures) -> str:
    """Attainment @ average replicas / reversals an hour."""
    reversals = figures["reversals"] / figures["hours"]
    return f"{figures['attainment']:.4f} @ {figures['replicas']:5.2f} / {reversals:4.1f}"


def draw_over_time(traces: Traces, seed: int) -> None:
    """One load over time under a few policies."""
    load, names = DRAWN
    trial = trial_of(load, traces, seed)
    replays = {name: policy_of(name).play(trial) for name in names}
    save(chart(f"{load} on {trial.profile.description}", replays), DOCS / "policies-over-time.svg")


def known_figures(played: Played) -> tuple[Played, list[str]]:
    """What the page shows of all that was played: its policies and the loads, both in their own order."""
    known = {name: played[name] for name in POLICIES if name in played}
    return known, [load for load in SCENARIOS if any(load in by_load for by_load in known.values())]


def sections(loads: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The groups of these loads that figures are summed over."""
    groups = ((title, [load for load in group if load in loads]) for title, group in GROUPS.items())
    return [(title, group) for title, group in groups if group]


def publish(results: Results, traces: Traces, seed: int) -> None:
    """Page and plots, from all figures that are known."""
    known, loads = known_figures(results.played)
    candidates = Results.read(DOCS / "policies-choice.json").played
    (DOCS / "policies.md").write_text(page(known, loads, sections(loads), candidates), "utf-8")
    draw_summary(known, sections(loads), DOCS / "policies.svg")
    draw_over_time(traces, seed)
    print("wrote docs/reference/policies.md, policies.svg, policies-over-time.svg")


def main() -> None:
    """Play what is asked for, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path, help="folder with the Azure 2023 traces")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--policies", nargs="*", default=POLICIES, help="names as of --against; none: only the page")
    parser.add_argument("--loads", nargs="+", choices=SCENARIOS, default=SCENARIOS)
    parser.add_argument("--choose", action="store_true", help="play the candidates for one setting of KEDA and KubeAI")
    parser.add_argument("--resume", action="store_true", help="play only what is not in the file of figures yet")
    options = parser.parse_args()
    if options.choose:
        options.policies, (options.loads, options.seeds) = CANDIDATES, CHOSEN_ON
    kinds = {trace_of(load) for load in options.loads} - {""} if options.traces else set()
    traces = {kind: read_trace(options.traces / f"AzureLLMInferenceTrace_{kind}.csv") for kind in sorted(kinds)}
    loads = [load for load in options.loads if not trace_of(load) or trace_of(load) in traces]
    results = Results.read(DOCS / ("policies-choice.json" if options.choose else "policies.json"))
    trials = ((load, seed, trial_of(load, traces, seed)) for load in loads for seed in options.seeds)
    skip = results.has if options.resume else lambda *_: False
    for policy, load, seed, figures in play_all(options.policies, trials, skip):
        if options.traces:
            results.add(policy, load, seed, figures)
    if options.traces:
        publish(Results.read(DOCS / "policies.json"), traces, SEEDS[0])


if __name__ == "__main__":
    main()
