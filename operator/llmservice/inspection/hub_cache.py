"""A repository in a cache of the hub, as huggingface_hub keeps it: the folder of one revision.

models--OWNER--NAME/refs/REVISION          the commit of a branch or tag, as text
models--OWNER--NAME/snapshots/COMMIT/…     links to ../../blobs
"""

from pathlib import Path

from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.claim_uri import repository_folder
from llmservice.models.inspection_failure import FailureReason
from llmservice.untrusted.patterns import compiled

_COMMIT = compiled(r"[0-9a-f]{40}([0-9a-f]{24})?")
_LONGEST = 128


def snapshot_in(cache: Path, repository: str, revision: str) -> Path:
    """The folder with the files of a revision (empty: main); raises InspectionFailed where the cache has none."""
    folder = cache / repository_folder(repository)
    if not folder.is_dir():
        raise InspectionFailed(FailureReason.REPOSITORY_UNKNOWN, f"{cache} has no {folder.name}")
    snapshot = folder / "snapshots" / _commit(folder, revision or "main")
    if not snapshot.is_dir():
        raise InspectionFailed(FailureReason.REVISION_UNKNOWN, f"{folder} has no snapshot of {revision or 'main'}")
    return snapshot


def _commit(folder: Path, revision: str) -> str:
    """The commit of a branch or tag, which is within the folder and has the form of one; else the revision itself."""
    if _COMMIT.matches(revision):
        return revision
    unknown = InspectionFailed(FailureReason.REVISION_UNKNOWN, f"{folder}/refs has no {revision}")
    try:
        ref = (folder / "refs" / revision).resolve(strict=True)
        if not (ref.is_relative_to((folder / "refs").resolve()) and ref.is_file()):
            raise unknown
        with ref.open(encoding="ascii") as file:
            commit = file.read(_LONGEST).strip()
    except (OSError, UnicodeDecodeError):
        raise unknown from None
    if not _COMMIT.matches(commit):
        raise unknown
    return commit
