"""A repository in a cache of the hub: which folder a revision is."""

from pathlib import Path

import pytest

from llmservice.inspection.hub_cache import snapshot_in
from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.inspection_failure import FailureReason

_COMMIT = "0a" * 20


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with one commit, which is the main branch and a pull request."""
    folder = tmp_path / "models--acme--chat"
    (folder / "snapshots" / _COMMIT).mkdir(parents=True)
    (folder / "refs" / "pr").mkdir(parents=True)
    (folder / "refs" / "main").write_text(_COMMIT)
    (folder / "refs" / "pr" / "1").write_text(f"{_COMMIT}\n")
    (folder / "refs" / "odd").write_text("../../../etc")
    (folder / "refs" / "long").write_text(_COMMIT * 1000)
    (folder / "refs" / "binary").write_bytes(b"\xff" * 40)
    (folder / "refs" / "gone").write_text("0b" * 20)
    (folder / "refs" / "link").symlink_to("/etc/hostname")
    return tmp_path


@pytest.mark.parametrize("revision", ["", "main", "pr/1", _COMMIT])
def test_a_branch_a_tag_and_a_commit_lead_to_the_folder(cache: Path, revision: str) -> None:
    assert snapshot_in(cache, "acme/chat", revision) == cache / "models--acme--chat" / "snapshots" / _COMMIT


@pytest.mark.parametrize(
    "revision", ["other", "odd", "long", "binary", "gone", "link", "pr", "../snapshots", "a/../../refs/main", "0b" * 20]
)
def test_what_is_no_revision_of_it_is_unknown(cache: Path, revision: str) -> None:
    with pytest.raises(InspectionFailed) as caught:
        snapshot_in(cache, "acme/chat", revision)
    assert caught.value.failure.reason is FailureReason.REVISION_UNKNOWN


def test_a_repository_that_is_not_there_is_unknown(cache: Path) -> None:
    with pytest.raises(InspectionFailed) as caught:
        snapshot_in(cache, "acme/other", "")
    assert caught.value.failure.reason is FailureReason.REPOSITORY_UNKNOWN
