"""`make bench-prediction`: a profile from one load, its prediction of six others, and what they attained. 15 minutes.

On real llama.cpp: the engine on one core, the load generator on another, so a machine of two cores with nothing else to
do. Prints a table of attainment, measured and predicted, for objectives from loose to tight; keeps everything in
build/prediction. `python -m benchmarks.prediction --kept FOLDER` tells again what was measured before.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.prediction.engine import GENERATOR_CORE, SLOTS, engine
from benchmarks.prediction.loads import PROFILE, loads
from llmservice.bench.records import Record, records_of

ROOT = Path(__file__).parents[2]
OBJECTIVES = ((3.0, 0.1), (1.0, 0.05), (0.6, 0.03), (0.5, 0.02))
"""Seconds to the first token, and per further one."""

POINTS = 5.0


def measure(url: str, folder: Path) -> None:
    """The profile's load, then each of the others."""
    _bench(url, folder / "profile", *PROFILE, "--slots", str(SLOTS), "--save", str(folder / "profile.yaml"))
    for number, (name, options) in enumerate(loads(folder).items()):
        print(name, file=sys.stderr)
        _bench(url, folder / f"load-{number}", *options, "--save-trace", str(folder / f"load-{number}.csv"))


def table(folder: Path) -> Iterator[str]:
    """A row for each load: requests, and for each objective what was measured, predicted, and their difference."""
    names = " | ".join(f"{first:g} s, {pace * 1e3:g} ms" for first, pace in OBJECTIVES)
    yield f"| load | requests | {names} |"
    yield f"|---|---|{'---|' * len(OBJECTIVES)}"
    for number, name in enumerate(loads(folder)):
        records = list(_records(folder / f"load-{number}"))
        cells = [_cell(folder, number, records, *objective) for objective in OBJECTIVES]
        yield f"| {name} | {len(records)} | {' | '.join(cells)} |"


def _cell(folder: Path, number: int, records: list[Record], first: float, pace: float) -> str:
    measured = 100 * sum(record.first <= first and record.per_token <= pace for record in records) / len(records)
    predicted = 100 * _predicted(folder, number, first, pace)
    apart = predicted - measured
    text = f"{measured:.1f} → {predicted:.1f}"
    return text if abs(apart) <= POINTS else f"**{text}**"


def _predicted(folder: Path, number: int, first: float, pace: float) -> float:
    profile = ("--profile", folder / "profile.yaml", "--policy", "Fixed", "--min", 1, "--max", 1, "--first", 1)
    objective = ("--ttft", first, "--tpot", pace, "-o", "json")
    return float(_told("replay", "--trace", folder / f"load-{number}.csv", *profile, *objective)["attainment"])


def _records(folder: Path) -> Iterator[Record]:
    """Those that were answered, of all runs of the generator."""
    for path in sorted(folder.glob("target-1/run-*/output/profile_export.jsonl")):
        with path.open(encoding="utf-8") as lines:
            yield from (record for record in records_of(lines)[0] if not record.error)


def _bench(url: str, keep: Path, *options: str) -> None:
    _told("bench", url, *options, "--keep", keep, "-o", "json")


def _told(*arguments: object) -> dict[str, Any]:
    command = [sys.executable, "-m", "llmservice", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "operator")}
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, check=True, preexec_fn=_beside)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def _beside() -> None:
    os.sched_setaffinity(0, {GENERATOR_CORE})


def main() -> None:
    """Measure, unless it was measured already; print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kept", type=Path, help="what an earlier run left: measure nothing")
    kept = parser.parse_args().kept
    folder = kept or ROOT / "build" / "prediction"
    if kept is None:
        folder.mkdir(parents=True)
        with engine(folder) as url:
            measure(url, folder)
    print("\n".join(table(folder)))


if __name__ == "__main__":
    main()
