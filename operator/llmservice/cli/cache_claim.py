"""A claim with cached models, where it is mounted: its files and markers, and removing some."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from llmservice.errors import InvalidInput
from llmservice.models.cache_pruning import CacheFile, Removal
from llmservice.models.download_marker import MOST_MARKER_BYTES, Marker, marker_in
from llmservice.models.download_request import MARKERS_FOLDER
from llmservice.models.plausible import MalformedModel, json_object
from llmservice.untrusted.texts import cut, printable

_MOST_FILES = 500_000
_MOST_MARKERS = 10_000
_MOST_READ_BYTES = 256 * 2**20
"""Of all markers together; those of models have some kilobytes each."""
_LONGEST = 1024
_FOLDERS = ("huggingface/hub", "buckets", "compile", MARKERS_FOLDER)


@dataclass(frozen=True, slots=True)
class KnownDownload:
    """A complete download on a claim: the marker, and what it was asked for."""

    marker: Marker
    uri: str
    revision: str
    finished: str


@dataclass(frozen=True, slots=True)
class CacheClaim:
    """`root` is where the claim is mounted. Whoever can write to it may change it at any time: no link is followed."""

    root: Path

    def files(self) -> tuple[CacheFile, ...]:
        """What is in the folders of the cache; raises InvalidInput."""
        found = tuple(self._files())
        if len(found) > _MOST_FILES:
            raise _refused(f"{self.root} holds more than {_MOST_FILES} files of caches; remove some by hand")
        return found

    def downloads(self) -> Mapping[str, KnownDownload]:
        """The complete downloads by their keys; a marker that cannot be read is none. Raises InvalidInput."""
        if self._is_elsewhere(MARKERS_FOLDER):
            return {}
        names = sorted((self.root / MARKERS_FOLDER).glob("*.json"))[:_MOST_MARKERS]
        if sum(map(_size, names)) > _MOST_READ_BYTES:
            raise _refused(
                f"the markers in {MARKERS_FOLDER} have more than {_MOST_READ_BYTES} bytes; remove the largest"
            )
        read = ((path.stem, self._download(path)) for path in names)
        return {key: download for key, download in read if download is not None}

    def remove(self, removals: tuple[Removal, ...]) -> None:
        """Remove the files, then folders that are empty; raises InvalidInput."""
        folders: set[Path] = set()
        for path in (Path(removal.path) for removal in removals):
            try:
                with self._folder(path.parent) as folder:
                    os.unlink(path.name, dir_fd=folder)
            except FileNotFoundError:
                continue
            except OSError as error:
                raise _refused(f"{path} cannot be removed: {error.strerror}") from error
            folders.update(path.parents)
        self._tidy(folders)

    def _tidy(self, folders: set[Path]) -> None:
        for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
            if len(folder.parts) > 1 or str(folder) in _FOLDERS:
                try:
                    with self._folder(folder.parent) as above:
                        os.rmdir(folder.name, dir_fd=above)
                except OSError:  # something is in it
                    continue

    @contextmanager
    def _folder(self, path: Path) -> Iterator[int]:
        """A folder of the claim, opened: whoever puts a link in its place meanwhile leads nobody out of the claim."""
        with ExitStack() as opened:
            folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
            opened.callback(os.close, folder)
            for part in path.parts:
                folder = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                opened.callback(os.close, folder)
            yield folder

    def _files(self) -> Iterator[CacheFile]:
        now, number = time.time(), 0
        for top in _FOLDERS:
            for folder, _, names in () if self._is_elsewhere(top) else os.walk(self.root / top, followlinks=False):
                for name in names:
                    number += 1
                    if number > _MOST_FILES + 1:
                        return
                    if file := self._file(Path(folder) / name, now):
                        yield file

    def _is_elsewhere(self, folder: str) -> bool:
        """Whether a link leads to this folder: what is in there is not the cache's."""
        return os.path.realpath(self.root / folder) != str(Path(os.path.realpath(self.root)) / folder)

    def _file(self, path: Path, now: float) -> CacheFile | None:
        """None of what is neither a file nor a link, or was removed meanwhile."""
        relative = str(path.relative_to(self.root))
        try:
            found = path.lstat()
            if stat.S_ISLNK(found.st_mode):
                target = os.path.relpath(os.path.realpath(path), os.path.realpath(self.root))
                return CacheFile(relative, 0, now - found.st_mtime, target)
        except OSError:
            return None
        return CacheFile(relative, found.st_size, now - found.st_mtime) if stat.S_ISREG(found.st_mode) else None

    def _download(self, path: Path) -> KnownDownload | None:
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_MARKER_BYTES:
                return None
            text = path.read_bytes()
            said = json_object(text, "the marker", MOST_MARKER_BYTES)
            marker = marker_in(text)
        except (OSError, MalformedModel):
            return None
        uri, revision, finished = (_shown(said.get(name)) for name in ("uri", "revision", "finished"))
        return KnownDownload(marker, uri, revision, finished)


def cache_claim_at(root: Path) -> CacheClaim:
    """The claim that is mounted there; raises InvalidInput where there is no folder."""
    if not root.is_dir():
        raise _refused(f"{root} is no folder: mount the claim there")
    return CacheClaim(root)


def _size(path: Path) -> int:
    """0 of what was removed meanwhile."""
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _shown(value: object) -> str:
    return cut(printable(value), _LONGEST) if isinstance(value, str) else ""


def _refused(message: str) -> InvalidInput:
    return InvalidInput("InvalidCache", message, field="--root")
