"""Cost per kB of everything that reads what strangers write: ordinary text and the worst one, side by side.

Run: python benchmarks/bench_hostile.py [--kilobytes 64] [--markdown]. The worst text is the costliest of those that the
tests generate. Figures are CPU time of this thread, the best of some calls; a reader that cuts first costs less per kB
the more it is given.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile.readers import READERS, Reader
from tests.hostile.texts import PIECES, repeated
from tests.unit.signals.fake_engine import recorded

_LOG_LINE = "INFO 11-22 04:00:00 [core.py:58] Initializing an engine (v0.33.0) with model='hf://owner/name', seed=0\n"
_ROUNDS = 3


def microseconds_per_kilobyte(read: Reader, text: str) -> float:
    """The CPU time of the quickest call."""
    best = float("inf")
    for _ in range(_ROUNDS):
        began = time.thread_time()
        read(text)
        best = min(best, time.thread_time() - began)
    return best * 1e6 / (len(text) / 1024)


def ordinary(name: str, size: int) -> str:
    """What such a reader is given every day."""
    return repeated(recorded("vllm").decode() if "metrics" in name else _LOG_LINE, size)


def worst(read: Reader, size: int) -> tuple[float, str]:
    """The most that any of the generated texts costs, and what it repeats."""
    return max((microseconds_per_kilobyte(read, repeated(piece, size)), piece) for piece in PIECES)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kilobytes", type=int, default=64, help="size of each text")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/reference/hostile-input.md")
    options = parser.parse_args()
    row = "| {} | {} | {} | {} |" if options.markdown else "{:42} {:>10} {:>10}  {}"
    print(row.format("reader", "ordinary µs/kB", "worst µs/kB", "worst text repeats"))
    if options.markdown:
        print("|---|---|---|---|")
    for name, read in READERS.items():
        usual = microseconds_per_kilobyte(read, ordinary(name, options.kilobytes << 10))
        most, piece = worst(read, options.kilobytes << 10)
        shown = f"`{piece!r}`" if options.markdown else repr(piece)
        print(row.format(name, f"{usual:.1f}", f"{most:.1f}", shown))


if __name__ == "__main__":
    main()
