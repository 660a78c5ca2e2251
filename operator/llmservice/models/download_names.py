"""Which names can be downloaded: of models, revisions and files, before anybody is asked for them."""

from dataclasses import dataclass

from llmservice.models.download_choice import is_safe_name
from llmservice.models.download_layout import BUCKET_SCHEMES, HUB_SCHEME, rest_of, scheme_of
from llmservice.models.download_request import DownloadRequest
from llmservice.untrusted.patterns import compiled

_PART = r"[A-Za-z0-9][-._A-Za-z0-9]*"
_REPOSITORY = compiled(rf"{_PART}/{_PART}")
_FOLDER = compiled(r"[a-z0-9][-._a-z0-9]*(/[!-~]+)?")
_REVISION = compiled(r"[A-Za-z0-9][-._/A-Za-z0-9]*")
_LONGEST_REPOSITORY = 200
"""It is one folder on the claim; file systems take 255 letters."""


@dataclass(frozen=True, slots=True)
class NameProblem:
    """What is wrong with one field of a request: `uri`, `revision` or `file`."""

    field: str
    message: str
    is_source: bool = False


def problem_of(request: DownloadRequest) -> NameProblem | None:
    """Why this cannot be downloaded; None where it can be tried."""
    scheme, name = scheme_of(request.uri), rest_of(request.uri)
    is_hub = scheme == HUB_SCHEME
    if not is_hub and scheme not in BUCKET_SCHEMES:
        return NameProblem("uri", "cannot be downloaded: name hf://, s3://, gs:// or az://", is_source=True)
    if not (_is_repository(name) if is_hub else _is_folder(name)):
        return NameProblem("uri", "must be owner/name on a hub, or bucket/folder, with parts of 200 letters at most")
    if request.revision and not (is_hub and _REVISION.matches(request.revision) and is_safe_name(request.revision)):
        return NameProblem("revision", "must name a commit, branch or tag of a hub")
    if request.file and not is_safe_name(request.file):
        return NameProblem("file", "must be a relative path in the model, without empty parts and backslashes")
    return None


def _is_repository(name: str) -> bool:
    return len(name) <= _LONGEST_REPOSITORY and _REPOSITORY.matches(name) and is_safe_name(name)


def _is_folder(name: str) -> bool:
    return is_safe_name(name.rstrip("/")) and _FOLDER.matches(name)
