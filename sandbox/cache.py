"""The user cache folder: what is expensive to make, kept by version and recipe so that every checkout reuses it."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.progress import Progress, Say


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`$LLMSERVICE_CACHE`, else `~/.cache/llmservice`; absolute, links followed."""
    chosen = environment.get("LLMSERVICE_CACHE")
    return (Path(chosen) if chosen else Path.home() / ".cache" / "llmservice").expanduser().resolve()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What is built: a name, a version, and everything else that changes the result (`inputs`)."""

    name: str
    version: str
    inputs: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The folder's name: a change of any input is another folder."""
        digest = hashlib.sha256()
        for name, content in sorted(self.inputs.items()):
            digest.update(f"{len(name)} {name} {len(content)} ".encode() + content)
        return f"{self.name}-{self.version}-{digest.hexdigest()[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """One entry of the cache. `make(work, output, say)` fills `output`; `work` survives a crash, so it can resume."""

    recipe: Recipe
    title: str
    make: Callable[[Path, Path, Say], None]

    def folder(self, cache: Path) -> Path:
        """Where the finished result lies, whether it is there yet or not."""
        return cache / "builds" / self.recipe.key

    def ensure(self, cache: Path, progress: Progress) -> Path:
        """The finished result, made now if no one has made it; of two processes one waits for the other."""
        finished = self.folder(cache)
        if finished.exists():
            return finished
        lock = finished.with_name(f"{finished.name}.lock")
        with locked(lock, lambda: progress.note(f"{self.title}: another process is at it, waiting")):
            if not finished.exists():
                with progress.step(self.title) as say:
                    self._make(finished, say)
        return finished

    def _make(self, finished: Path, say: Say) -> None:
        work = finished.with_name(f"{finished.name}.work")
        partial = finished.with_name(f"{finished.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        for folder in (work, partial):
            folder.mkdir(parents=True, exist_ok=True)
        self.make(work, partial, say)
        partial.replace(finished)
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def locked(path: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold an exclusive lock on a file. The kernel drops it with the process, so it is never stale."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
