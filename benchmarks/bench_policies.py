"""Our laws beside what users would otherwise run, on the same loads: writes docs/reference/policies.md and its plots.

Run: python benchmarks/bench_policies.py --traces FOLDER. FOLDER holds the Azure 2023 traces (see bench_replay.py);
without it the other loads are played and nothing is written. Figures stay in docs/reference/policies.json, so that one
policy can be played anew (--policies learned:Balanced) and a run that was cut off goes on (--resume). 1 to 20 s of CPU
a policy, load and seed. --choose plays what the settings of KEDA and KubeAI were chosen from.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.policies_figures import Played
from benchmarks.policies_page import page
from benchmarks.policies_playing import HINDSIGHT, THRESHOLD, Results, Traces, play_all, policy_of, trial_of
from benchmarks.policies_plot import draw_summary
from llmservice.cli.replay_chart import chart, save
from llmservice.simulation.scenarios import HELD_OUT_LOADS, HELD_OUT_SEEDS, SCENARIOS, TRACKABLE, TUNING_SEEDS, trace_of
from llmservice.simulation.traces import read_trace

DOCS = Path(__file__).parents[1] / "docs" / "reference"
SEEDS = HELD_OUT_SEEDS[:1]
"""Of those on which no constant was chosen; one, so that the page is written in a quarter of an hour."""

POLICIES = (
    *("learned:Economy", "learned:Balanced", "learned:Safe", THRESHOLD),
    *("keda:24", "keda:32", "kubeai:8", "kubeai:24", "hpa-kv:80", "wva", "aibrix"),
    *HINDSIGHT,
)
DRAWN = ("ramp-34b", ("learned:Balanced", "keda:24", "kubeai:24", "wva", "clairvoyant"))
"""The load that is drawn over time, and under which policies."""

CANDIDATES = tuple(f"{kind}:{requests}" for kind in ("keda", "kubeai") for requests in (8, 16, 24, 32, 48))
CHOSEN_ON = (TRACKABLE, TUNING_SEEDS[:1])
"""Loads and seeds on which two settings of KEDA and of KubeAI are chosen: seeds that the page does not use."""

LOADS = SCENARIOS
GROUPS = {"recorded loads that a service can follow": TRACKABLE, "loads that nobody tuned on": HELD_OUT_LOADS}
"""What figures are summed over."""


def known_figures(played: Played) -> tuple[Played, list[str]]:
    """What the page shows of all that was played: its policies and the loads, both in their own order."""
    known = {name: played[name] for name in POLICIES if name in played}
    return known, [load for load in LOADS if any(load in by_load for by_load in known.values())]


def sections(loads: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The groups of these loads that figures are summed over."""
    groups = ((title, [load for load in group if load in loads]) for title, group in GROUPS.items())
    return [(title, group) for title, group in groups if group]


def publish(results: Results, candidates: Results, traces: Traces) -> None:
    """Page and plots, from all figures that are known."""
    known, loads = known_figures(results.played)
    (DOCS / "policies.md").write_text(page(known, loads, sections(loads), candidates.played), "utf-8")
    draw_summary(known, sections(loads), DOCS / "policies.svg")
    load, names = DRAWN
    trial = trial_of(load, traces, SEEDS[0])
    over_time = chart(f"{load} on {trial.profile.description}", {name: policy_of(name).play(trial) for name in names})
    save(over_time, DOCS / "policies-over-time.svg")
    print("wrote docs/reference/policies.md, policies.svg, policies-over-time.svg")


def options_given() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", type=Path, help="folder with the Azure 2023 traces")
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--policies", nargs="*", default=POLICIES, help="names as of --against; none: only the page")
    parser.add_argument("--loads", nargs="+", choices=SCENARIOS, default=LOADS)
    parser.add_argument("--choose", action="store_true", help="play the candidates for settings of KEDA and KubeAI")
    parser.add_argument("--resume", action="store_true", help="play only what is not in the file of figures yet")
    options = parser.parse_args()
    if options.choose:
        options.policies, (options.loads, options.seeds) = CANDIDATES, CHOSEN_ON
    return options


def main() -> None:
    """Play what is asked for, then write the page."""
    options = options_given()
    kinds = {trace_of(load) for load in options.loads} - {""} if options.traces else set()
    traces = {kind: read_trace(options.traces / f"AzureLLMInferenceTrace_{kind}.csv") for kind in sorted(kinds)}
    loads = [load for load in options.loads if not trace_of(load) or trace_of(load) in traces]
    compared, candidates = (Results.read(DOCS / f"{name}.json") for name in ("policies", "policies-choice"))
    results = candidates if options.choose else compared
    trials = ((load, seed, trial_of(load, traces, seed)) for load in loads for seed in options.seeds)
    skip = results.has if options.resume else lambda *_: False
    for policy, load, seed, figures in play_all(options.policies, trials, skip):
        if options.traces:
            results.add(policy, load, seed, figures)
    if options.traces:
        publish(compared, candidates, traces)


if __name__ == "__main__":
    main()
