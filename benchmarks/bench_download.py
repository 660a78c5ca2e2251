"""What a download takes: megabytes in a second, memory, what is served after kills, how long a complete one lasts.

Run: python benchmarks/bench_download.py [--megabytes 1000]. The hub is on this machine and takes as much CPU as the
download, so the speed is a lower bound.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))

from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import Repository
from tests.unit.download.downloads import Started, started

_MB = 10**6
_SMALL_FILES = 1000


@dataclass(frozen=True, slots=True)
class Ended:
    """What a process took: seconds, and megabytes of memory at most."""

    seconds: float
    megabytes: float


def ended(running: Started, begun: float) -> Ended:
    """Wait for a download that succeeds. Its memory is asked for while it runs: wait4 counts that of its parent."""
    memory = 0.0
    while running.process.poll() is None:
        memory = max(memory, _megabytes(running.process.pid))
        time.sleep(0.01)
    code, _, error = running.end()
    assert code == 0, error
    return Ended(time.monotonic() - begun, memory)


def _megabytes(pid: int) -> float:
    """The most memory that a process had so far; 0 when it is gone."""
    with contextlib.suppress(OSError):
        said = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
        found = next((line.split()[1] for line in said if line.startswith("VmHWM:")), "0")
        return int(found) * 1024 / _MB
    return 0.0


def whole(root: Path, name: str) -> Ended:
    """A download from beginning to end."""
    begun = time.monotonic()
    return ended(started(root, name), begun)


def killed(hub: LocalHub, root: Path, name: str, at: Iterator[float]) -> Ended:
    """A download that is killed when the hub served so many bytes, then again, and at last ends by itself."""
    for served in at:
        running = started(root, name)
        while hub.served < served:
            time.sleep(0.005)
        running.process.kill()
        running.end()
    return whole(root, name)


@contextmanager
def claim() -> Iterator[Path]:
    """A folder on the disk."""
    with tempfile.TemporaryDirectory(prefix="bench-download-", dir=Path.home() / ".cache") as folder:
        yield Path(folder)


def measured(hub: LocalHub, run: Callable[[Path], Ended]) -> tuple[Ended, int]:
    """What a run took, and what the hub served for it."""
    hub.served = 0
    with claim() as root:
        return run(root), hub.served


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=int, default=1000)
    size = parser.parse_args().megabytes * _MB
    small = {f"additional_chat_templates/{number}.jinja": os.urandom(10_000) for number in range(_SMALL_FILES)}
    repositories = {
        "bench/large": Repository(files={"model.safetensors": os.urandom(size)}),
        "bench/many": Repository(files={"model.safetensors": b"x", **small}),
    }
    with local_hub(repositories) as hub:
        os.environ["HF_ENDPOINT"] = hub.url
        took, _ = measured(hub, lambda root: whole(root, "bench/large"))
        speed = size / took.seconds / _MB
        print(f"one file of {size / _MB:.0f} MB: {took.seconds:.1f} s, {speed:.0f} MB/s, {_more(took)}")
        took, _ = measured(hub, lambda root: whole(root, "bench/many"))
        print(f"{_SMALL_FILES} files of 10 kB: {took.seconds:.1f} s, {_more(took)}")
        at = (0.2, 0.5, 0.8)
        took, served = measured(hub, lambda root: killed(hub, root, "bench/large", (size * each for each in at)))
        print(f"killed at {', '.join(f'{each:.0%}' for each in at)}: {served / _MB:.0f} MB served of {size / _MB:.0f}")
        with claim() as root:
            whole(root, "bench/many")
            took = whole(root, "bench/many")
        print(f"{_SMALL_FILES} files that are there: {took.seconds:.2f} s, {_more(took)}")


def _more(took: Ended) -> str:
    return f"{took.megabytes:.0f} MB of memory"


if __name__ == "__main__":
    main()
