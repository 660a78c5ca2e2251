"""What a download tells at its end, as a text of at most 4 kB: a pod's termination message is no longer.

{"model": "hf://org/name", "downloaded": {"path": "huggingface/hub/models--org--name/snapshots/0e9e…", "commit":
 "0e9e…", "bytes": 15231233024, "files": 12, "seconds": 161.4}}
{"model": "hf://org/name", "failure": {"reason": "DiskFull", "message": "…", "needed": 141000000000, "free": …}}
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_layout import COMMIT_LETTERS
from llmservice.models.download_request import BUCKETS_FOLDER, HUB_FOLDER, DownloadRequest
from llmservice.models.plausible import MalformedModel, json_object, limit_of, part
from llmservice.untrusted.patterns import compiled
from llmservice.untrusted.texts import cut, printable

MOST_BYTES = 4096
"""Of a termination message (k8s.io/kubernetes, pkg/kubelet/container/runtime.go: MaxPodTerminationMessageLogLength)."""
LONGEST_PATH = 1536
_LONGEST_MODEL = 1024
_LONGEST_MESSAGE = 512
_PATH = compiled(r"[!-~]+")
_COMMIT = compiled(rf"[0-9a-f]{{{COMMIT_LETTERS}}}")
_MOST_SECONDS = 10**9
_NUMBERS = ("needed", "free", "done", "total")


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadedModel:
    """A model that is on the claim, all of it checked.

    `path`, relative to the claim's root, is what the engine loads: a folder, or the first GGUF file. `commit` is that
    of the hub, empty of a bucket. `seconds` is what this download took, 0 where everything was there.
    """

    path: str
    commit: str
    bytes: int
    files: int
    seconds: float


def answer_of(request: DownloadRequest, result: DownloadedModel | DownloadFailure) -> dict[str, Any]:
    """The answer as a JSON object."""
    answer: dict[str, Any] = {"model": cut(printable(request.uri), _LONGEST_MODEL)}
    if isinstance(result, DownloadedModel):
        return answer | {"downloaded": asdict(result)}
    told = {"reason": result.reason.value, "message": cut(printable(result.message), _LONGEST_MESSAGE)}
    numbers = {name: getattr(result, name) for name in _NUMBERS if getattr(result, name)}
    return answer | {"failure": {**told, **numbers, "remedy": result.remedy}}


def answer_text(answer: Mapping[str, Any]) -> str:
    """The answer in ASCII, so that its letters are its bytes, at most `MOST_BYTES`; without the model if it must be."""
    text = _as_text(answer)
    return text if len(text) <= MOST_BYTES else _as_text({key: answer[key] for key in answer if key != "model"})


def result_in(text: str) -> DownloadedModel | DownloadFailure:
    """What an answer tells. Anybody may have written it: what cannot be true is a failure, never an error."""
    try:
        answer = json_object(text, "the answer of the download", MOST_BYTES)
        if failure := part(answer, "failure"):
            return _failure_in(failure)
        return _model_in(part(answer, "downloaded"))
    except MalformedModel as error:
        return DownloadFailure(reason=DownloadFailureReason.NO_ANSWER, message=str(error))


def is_path_on_claim(path: object) -> bool:
    """Whether this is a path that a download may have written: relative, plain ASCII, without `.` and `..`."""
    return (
        isinstance(path, str)
        and len(path) <= LONGEST_PATH
        and _PATH.matches(path)
        and path.startswith((f"{HUB_FOLDER}/", f"{BUCKETS_FOLDER}/"))
        and not {"", ".", ".."} & set(path.split("/"))
    )


def is_path_part(name: str) -> bool:
    """Whether a file of this name can be answered with: its path is that of its folder and the name."""
    return _PATH.matches(name)


def commit_in(said: Mapping[str, Any]) -> str:
    """The commit of a hub that an answer or a marker names; empty for what is none."""
    commit = said.get("commit")
    return commit if isinstance(commit, str) and _COMMIT.matches(commit) else ""


def _model_in(said: Mapping[str, Any]) -> DownloadedModel:
    path = said.get("path")
    if not isinstance(path, str) or not is_path_on_claim(path):
        raise MalformedModel("the answer of the download names no path on the claim")
    return DownloadedModel(
        path=path,
        commit=commit_in(said),
        bytes=_number(said, "bytes"),
        files=_number(said, "files"),
        seconds=_seconds(said.get("seconds")),
    )


def _failure_in(failure: Mapping[str, Any]) -> DownloadFailure:
    try:
        reason = DownloadFailureReason(str(failure.get("reason")))
    except ValueError as error:
        raise MalformedModel("the answer of the download names an unknown reason") from error
    message = cut(printable(str(failure.get("message", ""))), _LONGEST_MESSAGE)
    return DownloadFailure(reason=reason, message=message, **{name: _number(failure, name) for name in _NUMBERS})


def _number(said: Mapping[str, Any], name: str) -> int:
    """A number of bytes or files; 0 for what is none."""
    value = said.get(name)
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= limit_of("file_bytes")
    return value if isinstance(value, int) and is_number else 0


def _seconds(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return 0.0
    return float(value) if 0 <= value <= _MOST_SECONDS else 0.0


def _as_text(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=True)
