"""The picture of docs/reference/policies.md: what each policy attains, on average and at worst, and what it costs."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.policies_figures import Played, sum_of
from llmservice.cli.replay_chart import save


def draw_summary(played: Played, groups: Sequence[tuple[str, Sequence[str]]], to: Path) -> None:
    """One panel a group of loads (its title and its loads): a line from the mean to the worst load per policy."""
    figure = Figure(figsize=(4.8 * len(groups), 4.2), layout="constrained")
    panels = figure.subplots(1, len(groups), sharey=True, squeeze=False)[0]
    for axes, (title, loads) in zip(panels, groups, strict=True):
        for number, (name, by_load) in enumerate(played.items()):
            total = sum_of(by_load, loads)
            if total is None:
                continue
            colour = f"C{number % 10}"
            axes.plot([total.replicas] * 2, [100 * total.mean, 100 * total.worst], color=colour, lw=1)
            axes.plot(total.replicas, 100 * total.worst, marker="_", color=colour)
            axes.plot(total.replicas, 100 * total.mean, marker="s" if number > 9 else "o", color=colour, label=name)  # noqa: PLR2004
        axes.axhline(99, color="#888888", ls="--", lw=1)
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel("replicas, summed over loads")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("% within the objective: mean (dot) to worst load")
    panels[-1].legend(frameon=False, fontsize=7, loc="lower right")
    save(figure, to)
