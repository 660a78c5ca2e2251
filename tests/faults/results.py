"""What passed already, kept in the folder $RESULTS: a long run that was cut off goes on where it stopped.

Keyed by the operator's code and these tests, so that a change begins anew. Without the variable nothing is kept.
"""

import hashlib
import json
import os
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
_PARTS = ("operator", "crds", "tests/faults")


@dataclass(slots=True)
class Results:
    """Seconds to the clean end by what went wrong, for each test that passed."""

    path: Path | None = None
    passed: dict[str, list[tuple[str, float]]] = field(default_factory=dict)

    @classmethod
    def kept(cls) -> "Results":
        """Those of this code."""
        if not os.environ.get("RESULTS"):
            return cls()
        path = Path(os.environ["RESULTS"]) / f"{_digest()}.json"
        return cls(path, json.loads(path.read_text("utf-8")) if path.exists() else {})

    def add(self, test: str, rows: list[tuple[str, float]]) -> None:
        """Keep it at once: the next moment may be the last."""
        self.passed[test] = rows
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.passed, indent=1), "utf-8")

    def table(self) -> str:
        """For each fault how often it was played, the seconds to the clean end, and the test."""
        seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
        for test, rows in self.passed.items():
            for fault, took in rows:
                seconds[fault, test.partition("::")[2].partition("[")[0]].append(took)
        lines = [
            f"| {fault} | {len(took)} | {median(took):.1f} | {max(took):.1f} | `{test}` |"
            for (fault, test), took in sorted(seconds.items())
        ]
        return "\n".join(["| fault | runs | median, s | longest, s | test |", "|---|--:|--:|--:|---|", *lines])


def _digest() -> str:
    files = [path for part in _PARTS for path in sorted((ROOT / part).rglob("*")) if path.suffix in {".py", ".yaml"}]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]
