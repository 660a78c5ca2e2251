"""The answer of a download: written in 4 kB, and read as a text that anybody may have written."""

import json
from typing import Any

import pytest

from llmservice.models.download_answer import (
    LONGEST_PATH,
    MOST_BYTES,
    DownloadedModel,
    answer_of,
    answer_text,
    is_path_on_claim,
    result_in,
)
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason
from llmservice.models.download_layout import bucket_folder, hub_folder, snapshot_folder
from llmservice.models.download_request import DownloadRequest

COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"
REQUEST = DownloadRequest(uri="hf://owner/name")
MODEL = DownloadedModel(
    path=snapshot_folder(REQUEST.uri, COMMIT), commit=COMMIT, bytes=15_231_233_024, files=12, seconds=161.4
)


def test_a_model_comes_back_as_it_went() -> None:
    assert result_in(answer_text(answer_of(REQUEST, MODEL))) == MODEL


@pytest.mark.parametrize("reason", DownloadFailureReason)
def test_a_failure_comes_back_with_its_numbers_and_remedy(reason: DownloadFailureReason) -> None:
    failure = DownloadFailure(reason=reason, message="owner/name: no", needed=9, free=8, done=7, total=6)
    answer = answer_of(REQUEST, failure)
    assert result_in(answer_text(answer)) == failure
    assert answer["failure"]["remedy"] == failure.remedy
    assert len(failure.remedy) > 20


def test_an_answer_never_has_more_than_a_termination_message_holds() -> None:
    longest = "\N{GREEK SMALL LETTER OMEGA}\x1b" * 10_000
    path = "huggingface/hub/".ljust(LONGEST_PATH, "x")
    for result in (
        DownloadFailure(reason=DownloadFailureReason.GATED, message=longest),
        DownloadedModel(path=path, commit=COMMIT, bytes=2**53, files=10_000, seconds=1e9),
    ):
        text = answer_text(answer_of(DownloadRequest(uri=longest), result))
        assert len(text.encode()) <= MOST_BYTES
        assert type(result_in(text)) is type(result)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "huggingface/hub/../../etc",
        "huggingface/hub//x",
        "huggingface/hub/a b",
        "buckets/s3/./x",
        "compile/x",
        ".llmservice/x.json",
        "huggingface/hub/" + "x" * LONGEST_PATH,
        ["huggingface/hub/x"],
        None,
    ],
)
def test_a_path_that_no_download_writes_is_no_answer(path: object) -> None:
    assert not is_path_on_claim(path)
    assert _reason({"downloaded": {"path": path, "commit": COMMIT}}) is DownloadFailureReason.NO_ANSWER


@pytest.mark.parametrize("said", [None, "x", -1, True, 2**80, float("nan"), float("inf"), [], {}])
def test_a_number_that_cannot_be_is_taken_for_unknown(said: object) -> None:
    result = result_in(json.dumps({"downloaded": {"path": MODEL.path, "bytes": said, "files": said, "seconds": said}}))
    assert isinstance(result, DownloadedModel)
    assert (result.bytes, result.files, result.commit) == (0, 0, "")
    assert result.seconds == 0


@pytest.mark.parametrize("text", ["", "[]", "{", "{}", '{"failure":{"reason":"Odd"}}', "[" * 4000, "x" * 5000])
def test_what_is_no_answer_is_a_failure_that_may_pass(text: str) -> None:
    result = result_in(text)
    assert isinstance(result, DownloadFailure)
    assert result.reason is DownloadFailureReason.NO_ANSWER
    assert result.is_worth_retrying


def test_another_try_is_for_what_may_pass_without_an_edit() -> None:
    assert DownloadFailure(reason=DownloadFailureReason.DISK_FULL, message="").is_worth_retrying
    assert not DownloadFailure(reason=DownloadFailureReason.GATED, message="").is_worth_retrying


def test_the_layout_is_that_of_huggingface_hub_and_of_the_bucket() -> None:
    assert hub_folder("hf://Qwen/Qwen2.5-7B") == hub_folder("Qwen/Qwen2.5-7B")
    assert hub_folder("hf://Qwen/Qwen2.5-7B") == "huggingface/hub/models--Qwen--Qwen2.5-7B"
    assert bucket_folder("s3://models/qwen/7b/") == "buckets/s3/models/qwen/7b"
    assert bucket_folder("gs://models/qwen/7b-Q4_K_M.gguf") == "buckets/gs/models/qwen"
    assert bucket_folder("az://models") == "buckets/az/models"


def _reason(answer: dict[str, Any]) -> DownloadFailureReason | None:
    result = result_in(json.dumps(answer))
    return result.reason if isinstance(result, DownloadFailure) else None
