"""What may be removed from a claim: nothing that a kept download, or a snapshot that stays, needs."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from llmservice.models.cache_pruning import CacheFile, is_downloading, removals
from llmservice.models.download_answer import DownloadedModel
from llmservice.models.download_marker import CheckedFile, Marker

_OLD, _NEW = 100_000.0, 10.0
_REPOSITORY = "huggingface/hub/models--acme--chat"


def a_marker(folder: str, *names: str) -> Marker:
    """The marker of a download of files into a folder."""
    files = tuple(CheckedFile(name, 5, "0" * 64) for name in names)
    model = DownloadedModel(path=folder, commit="", bytes=5 * len(files), files=len(files), seconds=1.0)
    return Marker(model=model, folder=folder, files=files)


def a_snapshot(commit: str, repository: str = _REPOSITORY, **blobs: str) -> Iterator[CacheFile]:
    """A snapshot of names → blobs, and the blobs, long ago."""
    for name, blob in blobs.items():
        target = f"{repository}/blobs/{blob}"
        yield CacheFile(f"{repository}/snapshots/{commit}/{name}", 0, _OLD, target)
        yield CacheFile(target, 1000, _OLD)


def a_key(key: str) -> CacheFile:
    return CacheFile(f".llmservice/{key}.json", 7, _OLD)


def removed(*arguments: object, **options: bool) -> list[str]:
    return [removal.path for removal in removals(*arguments, **options)]  # type: ignore[arg-type]


_FILES = (
    a_key("one"),
    a_key("two"),
    CacheFile(".llmservice/two.files", 3, _OLD),
    *a_snapshot("c1", config="a", weights="b"),
    *a_snapshot("c2", config="a", weights="c"),
    CacheFile(f"{_REPOSITORY}/refs/main", 40, _OLD),
)
_MARKERS = {
    "one": a_marker(f"{_REPOSITORY}/snapshots/c1", "config", "weights"),
    "two": a_marker(f"{_REPOSITORY}/snapshots/c2", "config", "weights"),
}


def test_where_every_download_is_kept_nothing_complete_goes() -> None:
    assert removed(_FILES, _MARKERS) == []


def test_a_blob_goes_with_the_last_snapshot_that_links_to_it() -> None:
    assert removed(_FILES, _MARKERS, {"one"}) == [
        ".llmservice/two.files",
        ".llmservice/two.json",
        f"{_REPOSITORY}/blobs/c",
        f"{_REPOSITORY}/snapshots/c2/config",
        f"{_REPOSITORY}/snapshots/c2/weights",
    ]


def test_with_the_last_snapshot_the_branches_go() -> None:
    assert f"{_REPOSITORY}/refs/main" in removed(_FILES, _MARKERS, {"other"})
    assert set(removed(_FILES, _MARKERS, {"other"})) == {file.path for file in _FILES}


def test_two_downloads_of_one_snapshot_need_the_same_files() -> None:
    markers = {**_MARKERS, "main": a_marker(f"{_REPOSITORY}/snapshots/c2", "config", "weights")}
    assert removed(_FILES, markers, {"one", "main"}) == [".llmservice/two.files", ".llmservice/two.json"]


def test_a_snapshot_without_a_marker_is_somebodys_own() -> None:
    own = tuple(a_snapshot("own", "huggingface/hub/models--my--own", weights="x"))
    assert removed((*_FILES, *own), {}, {"other"}) == []
    shared = (*_FILES, CacheFile(f"{_REPOSITORY}/snapshots/own/weights", 0, _OLD, f"{_REPOSITORY}/blobs/c"))
    assert f"{_REPOSITORY}/blobs/c" not in removed(shared, _MARKERS, {"one"})
    assert f"{_REPOSITORY}/refs/main" not in removed(shared, _MARKERS, {"other"})


def test_files_of_a_bucket_go_by_their_names() -> None:
    folder = "buckets/s3/models/chat"
    files = (
        a_key("one"),
        CacheFile(f"{folder}/a.gguf", 9, _OLD),
        CacheFile(f"{folder}/b.gguf", 9, _OLD),
        CacheFile(f"{folder}/own.txt", 9, _OLD),
    )
    markers = {"one": a_marker(folder, "a.gguf"), "two": a_marker(folder, "b.gguf")}
    assert removed(files, markers, {"two"}) == [".llmservice/one.json", f"{folder}/a.gguf"]


def test_interrupted_downloads_go_after_a_day() -> None:
    names = (f"{_REPOSITORY}/blobs/d.incomplete", "buckets/gs/b/.x.0a.incomplete", ".llmservice/0a.lock")
    temporary = ".llmservice/.0a.json.7.new"
    assert removed([CacheFile(name, 9, _NEW) for name in (*names, temporary)], {}) == []
    assert removed([CacheFile(name, 9, _OLD) for name in (*names, temporary)], {}) == sorted((*names, temporary))


def test_files_of_a_model_stay_although_they_are_named_like_what_is_left_over() -> None:
    own = tuple(a_snapshot("own", "huggingface/hub/models--my--own", **{"uv.lock": "x", "a.incomplete": "y"}))
    mine = CacheFile("buckets/s3/models/chat/poetry.lock", 9, _OLD)
    assert removed([*own, mine], {}) == []
    folder = "buckets/s3/models/chat"
    assert removed([CacheFile(f"{folder}/.x.incomplete", 9, _OLD)], {"one": a_marker(folder, ".x.incomplete")}) == []


def test_a_blob_that_nothing_links_to_goes_after_a_day() -> None:
    assert removed([CacheFile(f"{_REPOSITORY}/blobs/a", 9, _NEW)], {}) == []
    assert removed([CacheFile(f"{_REPOSITORY}/blobs/a", 9, _OLD)], {}) == [f"{_REPOSITORY}/blobs/a"]


def test_what_engines_compiled_goes_only_when_it_is_asked_for() -> None:
    files = [CacheFile("compile/0a/torch_compile_cache/x", 9, _OLD)]
    assert removed(files, {}) == []
    assert removed(files, {}, compiled=True) == [files[0].path]


def test_what_is_not_of_the_cache_stays_whatever_markers_say() -> None:
    names = ("lost+found/a", "models/own.gguf", "huggingface/token", "blobs/a.incomplete")
    assert removed([CacheFile(name, 9, _OLD) for name in names], {}, {"x"}, compiled=True) == []


def test_a_lock_that_was_written_just_now_is_a_download_that_runs() -> None:
    assert is_downloading([CacheFile(".llmservice/0a.lock", 9, 5.0)])
    assert not is_downloading([CacheFile(".llmservice/0a.lock", 9, 300.0), CacheFile("other/a.lock", 9, 5.0)])


_PAIRS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz")), min_size=1, max_size=12)


@given(
    snapshots=st.dictionaries(st.sampled_from(["c1", "c2", "c3", "own"]), _PAIRS), keep=st.sets(st.sampled_from("123"))
)
def test_no_link_that_stays_leads_to_a_file_that_goes(
    snapshots: dict[str, list[tuple[str, str]]], keep: set[str]
) -> None:
    files = {file.path: file for commit, pairs in snapshots.items() for file in a_snapshot(commit, **dict(pairs))}
    markers = {
        commit.removeprefix("c"): a_marker(f"{_REPOSITORY}/snapshots/{commit}", *dict(pairs))
        for commit, pairs in snapshots.items()
        if commit != "own"
    }
    gone = set(removed(list(files.values()), markers, keep))
    assert not {file.target for file in files.values() if file.target and file.path not in gone} & gone
    assert all(
        f"{marker.folder}/{each.name}" not in gone
        for key in keep & markers.keys()
        for marker in [markers[key]]
        for each in marker.files
    )
