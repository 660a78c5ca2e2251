"""Loads played under policies, one after another, with every figure kept as soon as it is known."""

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.policies_figures import Figures, Played
from llmservice.autoscaling.policy import Law, ScalingPolicy
from llmservice.planning.scaling_plan import LoadTargets
from llmservice.simulation.engine_profile import engine_profile
from llmservice.simulation.peers.registry import NamedPolicy, named_policy
from llmservice.simulation.peers.trial import Trial
from llmservice.simulation.replaying import Replay, remembering
from llmservice.simulation.request import Arrival
from llmservice.simulation.scenarios import scenario, trace_of

THRESHOLD = "threshold"
HINDSIGHT = ("fixed:best", "clairvoyant")
LONGEST_SEARCH_SECONDS = 7200.0
"""Hindsight needs about a dozen replays; on loads longer than this it is left out."""

Traces = Mapping[str, Sequence[Arrival]]
"""Recorded loads by name."""


def policy_of(name: str) -> NamedPolicy:
    """The policy of this name; `threshold` is ours with KV cache 80 % and 4 requests waiting."""
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
) -> Iterator[tuple[str, str, int, Figures]]:
    """Every policy on every load, one after another: policy, load, seed, figures, each printed as it ends."""
    names = tuple(policies)
    for load, seed, trial in trials:
        long = trial.setting.arrivals[-1].at > LONGEST_SEARCH_SECONDS
        for name in names:
            if skip(name, load, seed) or (long and name in HINDSIGHT):
                continue
            began = time.process_time()
            figures = figures_of(policy_of(name).play(trial))
            took = time.process_time() - began
            print(f"{load:14} seed {seed:<3} {name:17} {_told(figures)}   {took:5.1f} s CPU", flush=True)
            yield name, load, seed, figures


def _told(figures: Figures) -> str:
    """Attainment @ average replicas / reversals an hour."""
    reversals = figures["reversals"] / figures["hours"]
    return f"{figures['attainment']:.4f} @ {figures['replicas']:5.2f} / {reversals:4.1f}"
