"""`python benchmarks/load_plot.py`: draw what `make test-load` recorded (build/load/*.json) into docs/reference/."""

import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[1]
RECORDED, DRAWN = ROOT / "build" / "load", ROOT / "docs" / "reference"


def draw(name: str, moments: list[dict[str, Any]], to: Path) -> None:
    """Requests in the engines above, replicas below, over seconds."""
    at = [moment["at"] for moment in moments]
    figure, (requests, replicas) = plt.subplots(2, 1, sharex=True, figsize=(8, 4), height_ratios=(2, 1))
    requests.plot(at, [moment["running"] for moment in moments], label="running", color="#1f77b4")
    requests.plot(at, [moment["waiting"] for moment in moments], label="waiting", color="#d62728")
    requests.set_ylabel("requests")
    requests.legend(loc="upper right", frameon=False)
    requests.set_title(name, loc="left", fontsize=10)
    replicas.step(at, [moment["asked"] for moment in moments], where="post", label="asked for", color="#2ca02c")
    replicas.step(at, [moment["ready"] for moment in moments], where="post", label="ready", color="#2ca02c", ls=":")
    replicas.set_ylabel("replicas")
    replicas.set_xlabel("seconds")
    replicas.legend(loc="upper right", frameon=False)
    for axes in (requests, replicas):
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(bottom=0)
    figure.tight_layout()
    figure.savefig(to, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Every recording."""
    mpl.rcParams["svg.hashsalt"] = "llmservice"  # the same picture is the same file
    for path in sorted(RECORDED.glob("*.json")):
        to = DRAWN / f"load-{path.stem}.svg"
        draw(path.stem, json.loads(path.read_text())["moments"], to)
        print(f"wrote {to.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
