"""What may be removed from a claim with cached models: what no kept download needs. Pure: from a list of its files.

    .llmservice/KEY.json, KEY.files, NAME.lock         markers, journals and locks of downloads
    huggingface/hub/models--…/{blobs,refs,snapshots}   snapshots are links to blobs; a blob may have several
    buckets/SCHEME/BUCKET/PATH                         files under their own names
    compile/KEY/…                                      what engines compiled; they compile it again

Whatever else is on the claim is not ours and stays.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from llmservice.models.download_marker import Marker
from llmservice.models.download_request import BUCKETS_FOLDER, COMPILE_FOLDER, HUB_FOLDER, MARKERS_FOLDER

INTERRUPTED_SECONDS = 24 * 3600
"""What was not written for so long belongs to no download that goes on by itself."""
RUNNING_SECONDS = 60
"""A lock is written every few seconds, as long as its download runs."""
_PARTIAL, _LOCK = ".incomplete", ".lock"
_LOCKS = f"{HUB_FOLDER}/.locks/"
"""Of huggingface_hub itself."""
_OURS = (f"{HUB_FOLDER}/", f"{BUCKETS_FOLDER}/", f"{MARKERS_FOLDER}/")


@dataclass(frozen=True, slots=True)
class CacheFile:
    """A file on the claim by its path relative to the root, `age` is in seconds since it was written.

    `target` is where a link leads, relative to the root; empty for no link. A link has no size.
    """

    path: str
    size: int
    age: float
    target: str = ""


@dataclass(frozen=True, slots=True)
class Removal:
    """A file that may go, and why."""

    path: str
    size: int
    why: str


def is_downloading(files: Iterable[CacheFile]) -> bool:
    """Whether a download writes to the claim now."""
    return any(
        file.path.startswith(f"{MARKERS_FOLDER}/") and file.path.endswith(_LOCK) and file.age < RUNNING_SECONDS
        for file in files
    )


def removals(
    files: Collection[CacheFile],
    markers: Mapping[str, Marker],
    keep: Collection[str] | None = None,
    *,
    compiled: bool = False,
) -> tuple[Removal, ...]:
    """The files that no kept download needs; `keep` are the keys to keep, None keeps every download.

    With `compiled` what engines compiled goes, too. A snapshot without a marker is somebody's own, and stays.
    """
    kept = {key: marker for key, marker in markers.items() if keep is None or key in keep}
    needed = {path for marker in kept.values() for path in _paths(marker)}
    dropped = {path for key, marker in markers.items() if key not in kept for path in _paths(marker)} - needed
    linked = {file.target for file in files if file.target and file.path not in dropped}
    freed = {file.target for file in files if file.target and file.path in dropped} - linked
    leaving = _Leaving(
        needed=frozenset(needed),
        paths=frozenset({*dropped, *freed}),
        keys=frozenset(markers.keys() - kept.keys()),
        refs=tuple(f"{folder}/refs/" for folder in _without_snapshots(files, dropped)),
    )
    found = (Removal(file.path, file.size, why) for file in files if (why := _why(file, leaving, linked, compiled)))
    return tuple(sorted(found, key=lambda removal: removal.path))


@dataclass(frozen=True, slots=True)
class _Leaving:
    """What belongs to models that are not kept: files, keys of downloads, and folders of branches.

    `needed` are the files of models that are kept.
    """

    needed: frozenset[str]
    paths: frozenset[str]
    keys: frozenset[str]
    refs: tuple[str, ...]

    def has(self, path: str) -> bool:
        return path in self.paths or _key_of(path) in self.keys or path.startswith(self.refs)


def _why(file: CacheFile, leaving: _Leaving, linked: Collection[str], compiled: bool) -> str:  # noqa: FBT001
    """Why a file may go; empty for one that stays."""
    if file.path.startswith(f"{COMPILE_FOLDER}/"):
        return "compiled, and is compiled again" if compiled else ""
    if not file.path.startswith(_OURS) or file.path in leaving.needed:
        return ""
    if leaving.has(file.path):
        return "of a model that is not kept"
    return "" if file.age < INTERRUPTED_SECONDS else _left_over(file, linked)


def _left_over(file: CacheFile, linked: Collection[str]) -> str:
    if _is_unfinished(file.path):
        return "of a download that was interrupted"
    return "no snapshot links to it" if _is_blob(file.path) and file.path not in linked else ""


def _is_unfinished(path: str) -> bool:
    """Whether a download left it: a part, a lock, a marker that was being written. A model may have a `uv.lock`."""
    folder, _, name = path.rpartition("/")
    if folder == MARKERS_FOLDER:
        return name.startswith(".") or name.endswith((_PARTIAL, _LOCK))
    if path.startswith(f"{BUCKETS_FOLDER}/"):
        return name.startswith(".") and name.endswith(_PARTIAL)
    return (_is_blob(path) and name.endswith(_PARTIAL)) or (path.startswith(_LOCKS) and name.endswith(_LOCK))


def _paths(marker: Marker) -> Iterator[str]:
    return (f"{marker.folder}/{file.name}" for file in marker.files)


def _key_of(path: str) -> str:
    """The key of a marker or journal; empty for another file."""
    folder, _, name = path.rpartition("/")
    return name.partition(".")[0] if folder == MARKERS_FOLDER else ""


def _is_blob(path: str) -> bool:
    return path.startswith(f"{HUB_FOLDER}/") and path.split("/")[3:4] == ["blobs"]


def _without_snapshots(files: Iterable[CacheFile], dropped: Collection[str]) -> set[str]:
    """The folders of repositories of which some snapshot goes and none is left: their branches lead nowhere."""
    left: set[str] = set()
    losing: set[str] = set()
    for file in files:
        parts = file.path.split("/")
        if file.path.startswith(f"{HUB_FOLDER}/") and parts[3:4] == ["snapshots"]:
            (losing if file.path in dropped else left).add("/".join(parts[:3]))
    return losing - left
