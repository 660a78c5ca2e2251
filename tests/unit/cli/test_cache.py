"""`llmservice cache`: what is listed and removed, on a folder as a download leaves it."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from llmservice.cli import cache_claim, cache_list
from llmservice.cli.cache import command
from llmservice.errors import InvalidInput
from llmservice.models.cache_pruning import Removal
from llmservice.models.download_marker import marker_text
from llmservice.models.download_request import DownloadRequest
from tests.builders import an_llmservice
from tests.unit.models.test_cache_pruning import a_marker

_REPOSITORY = "huggingface/hub/models--acme--chat"
_LONG_AGO = 1_700_000_000


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(word) for word in arguments])


def a_download(root: Path, commit: str, **blobs: str) -> str:
    """A complete download of the hub, as it lies on the claim; the key of it."""
    request = DownloadRequest(uri="hf://acme/chat", revision=commit)
    for name, blob in blobs.items():
        path, link = root / _REPOSITORY / "blobs" / blob, root / _REPOSITORY / "snapshots" / commit / name
        path.parent.mkdir(parents=True, exist_ok=True)
        link.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
        link.symlink_to(f"../../blobs/{blob}")
    marker = root / request.marker
    marker.parent.mkdir(exist_ok=True)
    folder = f"{_REPOSITORY}/snapshots/{commit}"
    marker.write_text(marker_text(request, a_marker(folder, *blobs), "2026-01-02T03:04:05Z"))
    return request.key


@pytest.fixture
def claim(tmp_path: Path) -> Path:
    """Two revisions that share a file, a download that was interrupted long ago, and something of the user's."""
    a_download(tmp_path, "c1", config="a", weights="b")
    a_download(tmp_path, "c2", config="a", weights="c")
    partial = tmp_path / _REPOSITORY / "blobs" / "d.incomplete"
    partial.write_bytes(b"123")
    os.utime(partial, (_LONG_AGO, _LONG_AGO))
    (tmp_path / "own.txt").write_text("mine")
    return tmp_path


def key_of(commit: str) -> str:
    return DownloadRequest(uri="hf://acme/chat", revision=commit).key


def names_in(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()}


def test_a_claim_says_what_is_on_it(claim: Path) -> None:
    rows = json.loads(run("list", "--root", claim, "-o", "json").stdout)
    assert {(row["key"], row["model"], row["revision"], row["bytes"], row["state"]) for row in rows} == {
        (key_of(commit), "hf://acme/chat", commit, 10, "Downloaded") for commit in ("c1", "c2")
    }
    (claim / _REPOSITORY / "snapshots" / "c2" / "weights").unlink()
    states = {row["key"]: row["state"] for row in json.loads(run("list", "--root", claim, "-o", "json").stdout)}
    assert states == {key_of("c1"): "Downloaded", key_of("c2"): "Incomplete"}
    assert "hf://acme/chat" in run("list", "--root", claim).stdout


def test_nothing_is_removed_before_it_is_asked_for(claim: Path) -> None:
    before = names_in(claim)
    shown = json.loads(run("prune", "--root", claim, "-o", "json").stdout)
    assert (shown["removed"], shown["bytes"], len(shown["files"])) == (False, 3, 1)
    assert names_in(claim) == before
    assert "--yes" in run("prune", "--root", claim).stdout


def test_without_a_list_only_what_is_left_over_goes(claim: Path) -> None:
    before = names_in(claim)
    assert json.loads(run("prune", "--root", claim, "--yes", "-o", "json").stdout)["removed"] is True
    assert before - names_in(claim) == {f"{_REPOSITORY}/blobs/d.incomplete"}


def test_what_is_not_listed_goes_and_what_others_link_to_stays(
    claim: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    listed = tmp_path_factory.mktemp("lists") / "used.json"
    listed.write_text(json.dumps([{"key": key_of("c1")}, {"key": ""}]))
    assert run("prune", "--root", claim, "--keep-listed", listed, "--yes").exit_code == 0
    assert names_in(claim) == {
        "own.txt",
        f".llmservice/{key_of('c1')}.json",
        f"{_REPOSITORY}/blobs/a",
        f"{_REPOSITORY}/blobs/b",
        f"{_REPOSITORY}/snapshots/c1/config",
        f"{_REPOSITORY}/snapshots/c1/weights",
    }
    assert not (claim / _REPOSITORY / "snapshots" / "c2").exists()
    assert len(json.loads(run("list", "--root", claim, "-o", "json").stdout)) == 1


def test_a_key_that_is_kept_by_hand_is_enough(claim: Path) -> None:
    assert run("prune", "--root", claim, "--keep", key_of("c2"), "--yes").exit_code == 0
    assert (claim / _REPOSITORY / "blobs" / "c").exists()
    assert not (claim / _REPOSITORY / "blobs" / "b").exists()


def test_while_a_download_runs_nothing_is_removed(claim: Path) -> None:
    (claim / ".llmservice" / "0a.lock").write_text("{}")
    before = names_in(claim)
    found = run("prune", "--root", claim, "--yes")
    assert (found.exit_code, "--root" in found.stderr) == (1, True)
    assert names_in(claim) == before


def test_no_link_leads_a_removal_out_of_the_claim(claim: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.incomplete").write_text("theirs")
    os.utime(outside / "x.incomplete", (_LONG_AGO, _LONG_AGO))
    (claim / "buckets").mkdir()
    (claim / "buckets" / "s3").symlink_to(outside)
    assert run("prune", "--root", claim, "--compiled", "--yes").exit_code == 0
    assert (outside / "x.incomplete").exists()


def test_a_link_that_is_put_in_the_way_meanwhile_leads_nobody_out(
    claim: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "s3").mkdir()
    (outside / "s3" / "x").write_text("theirs")
    (claim / "buckets").symlink_to(outside)
    with pytest.raises(InvalidInput, match="buckets/s3/x"):
        cache_claim.CacheClaim(claim).remove((Removal("buckets/s3/x", 6, "listed before"),))
    assert names_in(outside) == {"s3/x"}


@pytest.mark.parametrize("top", ["huggingface", "huggingface/hub", "buckets", "compile", ".llmservice"])
def test_a_folder_of_the_cache_that_is_a_link_is_not_looked_into(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, top: str
) -> None:
    outside, folder = tmp_path_factory.mktemp("outside"), tmp_path / top
    blob = outside / "hub/models--my--own/blobs/x"
    for path in (blob, outside / "models--my--own/blobs/x", outside / "0a.lock", outside / ".x.0a.incomplete"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs")
        os.utime(path, (_LONG_AGO, _LONG_AGO))
    folder.parent.mkdir(exist_ok=True)
    folder.symlink_to(outside)
    before = names_in(outside)
    found = json.loads(run("prune", "--root", tmp_path, "--compiled", "--yes", "-o", "json").stdout)
    assert (found["files"], names_in(outside)) == ([], before)


@pytest.mark.parametrize("is_far", [True, False])
def test_a_file_stays_whatever_way_a_snapshot_leads_to_it(tmp_path: Path, is_far: bool) -> None:
    """People copy caches with links that begin at the root, or that lead over other links."""
    repository = tmp_path / "huggingface/hub/models--my--own"
    blob, link = repository / "blobs/x", repository / "snapshots/c1/config.json"
    for path in (blob, link):
        path.parent.mkdir(parents=True)
    blob.write_text("mine")
    os.utime(blob, (_LONG_AGO, _LONG_AGO))
    (repository / "files").symlink_to("blobs")
    link.symlink_to(blob if is_far else "../../files/x")
    os.utime(link, (_LONG_AGO, _LONG_AGO), follow_symlinks=False)
    assert run("prune", "--root", tmp_path, "--yes").exit_code == 0
    assert link.read_text() == "mine"


def test_a_key_that_is_not_there_is_a_typing_error_and_removes_nothing(claim: Path) -> None:
    before = names_in(claim)
    found = run("prune", "--root", claim, "--keep", key_of("c1"), "--keep", "c1", "--yes")
    assert (found.exit_code, "--keep" in found.stderr, names_in(claim)) == (2, True, before)


def test_the_list_of_another_claim_removes_nothing(claim: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    listed, before = tmp_path_factory.mktemp("lists") / "used.json", names_in(claim)
    listed.write_text(json.dumps([{"key": key_of("of another claim")}]))
    found = run("prune", "--root", claim, "--keep-listed", listed, "--yes")
    assert (found.exit_code, "--keep-listed" in found.stderr, names_in(claim)) == (2, True, before)


def test_while_a_service_changes_nothing_is_removed_by_its_list(
    claim: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its replicas, or those it is rolled back to, may load another model than the one that is listed."""
    listed, before = tmp_path_factory.mktemp("lists") / "used.json", names_in(claim)
    row = {"key": key_of("c1"), "namespace": "ml", "service": "chat", "changing": True}
    listed.write_text(json.dumps([row]))
    found = run("prune", "--root", claim, "--keep-listed", listed, "--yes")
    assert (found.exit_code, "ml/chat" in found.stderr, names_in(claim)) == (1, True, before)


def test_markers_without_end_are_refused(claim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_claim, "_MOST_READ_BYTES", 100)
    found = run("list", "--root", claim)
    assert (found.exit_code, "--root" in found.stderr) == (1, True)


@pytest.mark.parametrize("text", ["", "{}", "[]", '[{"key": ""}]', "[1]", '{"key": 1}', "null"])
def test_a_list_that_names_nothing_would_remove_everything_and_is_refused(
    claim: Path, tmp_path: Path, text: str
) -> None:
    (tmp_path / "list.json").write_text(text)
    found = run("prune", "--root", claim, "--keep-listed", tmp_path / "list.json", "--yes")
    assert (found.exit_code, "--keep-listed" in found.stderr) == (2, True)
    assert (claim / _REPOSITORY / "blobs" / "b").exists()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    for verb in ("list", "prune"):
        found = run(verb, "--root", tmp_path / "none")
        assert (found.exit_code, "--root" in found.stderr) == (1, True)
    assert run("list", "--root", tmp_path, "--all-namespaces").exit_code == 2
    assert run("list", "--root", tmp_path).stdout == "no caches\n"


def test_a_cluster_is_listed_by_what_the_services_say(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"claim": "weights", "key": "0a", "commit": "c1", "bytes": 7_000_000_000, "files": 3, "path": "p"}
    complete = {"conditions": [{"type": "WeightsReady", "reason": "Downloaded"}], "weights": weights}
    model = {"uri": "hf://acme/chat", "revision": "main", "cache": {"claim": {}}}
    bodies = [
        an_llmservice(),
        an_llmservice(metadata__name="new", spec__model=model),
        an_llmservice(metadata__name="served", spec__model=model, status=complete),
    ]

    async def listed(*_: object, **__: object) -> list[dict[str, object]]:
        return bodies

    monkeypatch.setattr(cache_list, "_services", listed)
    rows = json.loads(run("list", "-A", "-o", "json").stdout)
    assert [(row["service"], row["claim"], row["state"], row["revision"], row["key"]) for row in rows] == [
        ("new", "new-weights", "Unknown", "main", ""),
        ("served", "weights", "Downloaded", "c1", "0a"),
    ]
    assert "7.0 GB" in run("list", "-A").stdout


@pytest.mark.parametrize("kind", ["Reconciling", "Stalled"])
def test_a_service_that_changes_says_so_in_the_list(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    model = {"uri": "hf://acme/chat", "cache": {"claim": {}}}
    status = {"conditions": [{"type": kind, "status": "True"}, {"type": "Ready", "status": "True"}]}
    settled = {"conditions": [{"type": kind, "status": "False"}]}

    async def listed(*_: object, **__: object) -> list[dict[str, object]]:
        return [an_llmservice(spec__model=model, status=each) for each in (status, settled)]

    monkeypatch.setattr(cache_list, "_services", listed)
    assert [row["changing"] for row in json.loads(run("list", "-o", "json").stdout)] == [True, False]
