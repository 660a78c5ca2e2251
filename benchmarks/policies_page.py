"""The text of docs/reference/policies.md, from the figures of bench_policies.py."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from benchmarks.policies_figures import Played, cell_of, sum_of

_HEAD = """\
# Policies compared

What our laws attain, and what it costs, beside what would be run otherwise. Every policy has **one setting for all
loads**, meets the same simulated engines, and is asked as often as in life. Attainment is the share of requests with
the first token within 3 s and 100 ms per further token. Written by

```console
$ python benchmarks/bench_policies.py --traces FOLDER
```

FOLDER holds the [Azure 2023 traces](replay-results.md), where loads and engines are described too. Seeds: {seeds}.
[`llmservice replay --against`](../how-to/replay.md) does the same on a load of yours.
"""

_READING = """\
How to read it:

- Readings reach the peers without delay; a Prometheus in between would add 15 to 60 s. Ours are read every 10 s.
- Our laws know neither model nor device, as in the operator. Their constants were chosen on other seeds, and never on
  the loads that nobody tuned on.
- A change of a constant by a hair moves a load by .003 and by 0.3 replicas. Smaller differences mean nothing.
- `fixed:best` and `clairvoyant` know the load beforehand, and nobody can run them: the smallest fixed number that
  attains .99 on this very load, and the cheapest schedule found that does. The schedule is the best of a family (two
  smoothing windows, utilization by bisection): perfect knowledge may need less, never more. Loads of over two hours
  have neither.
"""

_CHOICE = """\
## How the settings of KEDA and KubeAI were chosen

KEDA's threshold has no default for LLMs; KubeAI's is 100. Of 8, 16, 24, 32 and 48 each has two: the one that attains
.99 on most loads (of equals the cheapest), and the cheapest that attains .95 on the mean. They were chosen on another
seed than above; `--choose` plays that.

"""

_DESCRIBED = Path(__file__).with_name("policies.yaml")

Group = tuple[str, Sequence[str]]
"""A title, and the loads under it."""


def page(played: Played, loads: Sequence[str], groups: Sequence[Group], candidates: Played) -> str:
    """The page as Markdown: sums over groups of loads, a picture, every load, and what each policy is bad at.

    `candidates` are the settings from which one was chosen.
    """
    seeds = sorted({int(seed) for by_load in played.values() for by_seed in by_load.values() for seed in by_seed})
    parts = [_HEAD.format(seeds=", ".join(map(str, seeds)))]
    for title, group in groups:
        parts.append(f"## {title[0].upper()}{title[1:]}\n\n{', '.join(group)}.\n\n" + _summary(played, group) + "\n")
    parts.append("![Attainment over replicas, summed over loads](policies.svg)\n")
    parts.append(_READING)
    parts.append(
        "## Each load\n\nAttainment @ average replicas / reversals an hour.\n\n" + _matrix(played, loads) + "\n"
    )
    parts.append("![One load over time](policies-over-time.svg)\n")
    parts.append("## What each is bad at\n\n" + _weaknesses(played) + "\n")
    tried = sorted({load for by_load in candidates.values() for load in by_load})
    parts.append(_CHOICE + _summary(candidates, tried) + "\n")
    return "\n".join(parts)


def _summary(played: Played, loads: Sequence[str]) -> str:
    lines = [
        "| policy | loads at .99 | mean | worst | replicas, summed | replica-hours | reversals an hour |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, by_load in played.items():
        total = sum_of(by_load, loads)
        if total is None:
            continue
        worst = f"{_share(total.worst)} ({total.worst_load})"
        lines.append(
            f"| `{name}` | {total.good} of {total.loads} | {_share(total.mean)} | {worst} | {total.replicas:.2f} "
            f"| {total.replica_hours:.1f} | {total.reversals_per_hour:.1f} |"
        )
    return "\n".join(lines)


def _matrix(played: Played, loads: Sequence[str]) -> str:
    head = ["| load | " + " | ".join(f"`{name}`" for name in played) + " |", "|---" * (len(played) + 1) + "|"]
    rows = (f"| {load} | " + " | ".join(_cells(played, load)) + " |" for load in loads)
    return "\n".join([*head, *rows])


def _cells(played: Played, load: str) -> Iterator[str]:
    for by_load in played.values():
        if load not in by_load:
            yield "–"
            continue
        cell = cell_of(by_load[load])
        yield f"{_share(cell.attainment)} @ {cell.replicas:.2f} / {cell.reversals_per_hour:.1f}"


def _weaknesses(played: Played) -> str:
    described = yaml.safe_load(_DESCRIBED.read_text("utf-8"))
    rows = (f"| `{name}` | {described[name]['what']} | {described[name]['bad_at']} |" for name in played)
    return "\n".join(["| policy | what it is | bad at |", "|---|---|---|", *rows])


def _share(value: float) -> str:
    """0.9876 as .9876, which is what a column has room for."""
    return f"{value:.4f}".removeprefix("0")
