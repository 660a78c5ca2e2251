"""A model from a bucket: a real S3 server, and what goes wrong between."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from llmservice.download import bucket_source, pieces
from llmservice.download.bucket_access import bucket_store
from llmservice.download.bucket_failures import refusal
from llmservice.download.failing import DownloadFailed
from llmservice.download.progress import Progress
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_request import DownloadRequest
from tests.local_s3.local_s3 import LocalS3, S3Fault, local_s3
from tests.unit.download.downloads import download, failure, files_in, marker, model, started

LLAMA = DownloadRequest(uri="s3://models/llama")
WEIGHTS, IN_PARTS = os.urandom(3_000_000), os.urandom(6_000_000)
FILES = {
    "config.json": b'{"model_type": "llama"}',
    "model.safetensors": WEIGHTS,
    "tokenizer.json": b"{}",
    "original/consolidated.00.pth": b"x",
    "README.md": b"x",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalS3]:
    if shutil.which("go") is None:
        pytest.skip("the S3 server is built with Go")
    with local_s3(tmp_path_factory.mktemp("s3")) as running:
        for name, data in FILES.items():
            running.put(f"llama/{name}", data)
        running.put("gguf/a-Q4_K_M-00001-of-00002.gguf", IN_PARTS, parts_of=5 * 2**20)
        running.put("gguf/a-Q4_K_M-00002-of-00002.gguf", b"second")
        running.put("gguf/a-Q8_0.gguf", b"other")
        yield running


@pytest.fixture
def s3(server: LocalS3, monkeypatch: pytest.MonkeyPatch) -> LocalS3:
    """Its pieces are 256 KiB here, and what fails is tried again within milliseconds."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(pieces, "PIECE", 2**18)
    monkeypatch.setattr(bucket_source, "_FIRST_PAUSE", 0.002)
    monkeypatch.setattr(bucket_source, "_LONGEST_PAUSE", 0.01)
    server.faults.clear()
    server.more.clear()
    server.bytes_per_second, server.served = 0.0, 0
    return server


async def test_a_model_lies_as_it_does_in_the_bucket(s3: LocalS3, root: Path) -> None:
    assert s3.url
    done = await model(root, LLAMA)
    assert done.path == "buckets/s3/models/llama"
    assert files_in(root / done.path) == {"config.json", "model.safetensors", "tokenizer.json"}
    assert (root / done.path / "model.safetensors").read_bytes() == WEIGHTS
    asked = s3.asked
    await model(root, LLAMA)
    assert s3.asked == asked


@pytest.mark.parametrize(
    "request_",
    [
        DownloadRequest(uri="s3://models/gguf", format="gguf", quantization="Q4_K_M"),
        DownloadRequest(uri="s3://models/gguf/", format="gguf", file="a-Q4_K_M-00001-of-00002.gguf"),
        DownloadRequest(uri="s3://models/gguf/a-Q4_K_M-00001-of-00002.gguf", format="gguf"),
    ],
)
async def test_a_gguf_model_comes_with_all_its_parts(s3: LocalS3, root: Path, request_: DownloadRequest) -> None:
    assert s3.url
    done = await model(root, request_)
    assert done.path == "buckets/s3/models/gguf/a-Q4_K_M-00001-of-00002.gguf"
    assert files_in(root / "buckets/s3/models/gguf") == {f"a-Q4_K_M-0000{part}-of-00002.gguf" for part in (1, 2)}
    assert (root / done.path).read_bytes() == IN_PARTS


@pytest.mark.parametrize(("status", "after"), [(0, 2**17), (503, None), (500, None)])
async def test_what_breaks_is_asked_for_again(s3: LocalS3, root: Path, status: int, after: int | None) -> None:
    s3.faults.append(S3Fault("model.safetensors", times=3, status=status, after=after))
    await model(root, LLAMA)
    assert (root / "buckets/s3/models/llama/model.safetensors").read_bytes() == WEIGHTS


async def test_wrong_bytes_are_loaded_once_more(s3: LocalS3, root: Path) -> None:
    s3.faults.append(S3Fault("model.safetensors", times=1, wrong=True))
    progress = Progress()
    await download(root, LLAMA, progress=progress)
    assert progress.errors == 1
    assert (root / "buckets/s3/models/llama/model.safetensors").read_bytes() == WEIGHTS


async def test_wrong_bytes_never_get_a_marker(s3: LocalS3, root: Path) -> None:
    s3.faults.append(S3Fault("model.safetensors", wrong=True))
    assert (await failure(root, LLAMA)).reason is DownloadFailureReason.CHECKSUM_MISMATCH
    assert marker(root, LLAMA) is None
    assert "model.safetensors" not in files_in(root / "buckets/s3/models/llama")


async def test_an_etag_that_is_no_checksum_is_not_taken_for_one(s3: LocalS3, root: Path) -> None:
    s3.more["x-amz-server-side-encryption"] = "aws:kms"
    s3.faults.append(S3Fault("model.safetensors", wrong=True))
    progress = Progress()
    await download(root, LLAMA, progress=progress)
    assert marker(root, LLAMA)
    assert progress.errors == 0


def test_a_download_that_is_killed_goes_on_where_it_was(s3: LocalS3, root: Path) -> None:
    s3.put("large/model.safetensors", os.urandom(40_000_000))
    s3.bytes_per_second = 40e6
    running = started(root, "s3://models/large", "--parallel", "1")
    while s3.served < 25_000_000:
        assert running.process.poll() is None
    running.process.kill()
    running.end()
    code, _, error = started(root, "s3://models/large").end()
    assert code == 0, error
    assert s3.served <= 40_000_000 + 12 * 2**20


async def test_an_object_that_was_written_again_is_not_mixed_with_the_one_before(s3: LocalS3, root: Path) -> None:
    s3.put("again/model.safetensors", WEIGHTS)
    request = DownloadRequest(uri="s3://models/again")
    s3.bytes_per_second = 2e6
    assert (await failure(root, request, seconds=1.0, parallel=1)).reason is DownloadFailureReason.TIMED_OUT
    other = WEIGHTS[::-1]
    s3.put("again/model.safetensors", other)
    s3.bytes_per_second = 0.0
    done = await model(root, request)
    assert (root / done.path / "model.safetensors").read_bytes() == other


@pytest.mark.parametrize(
    ("uri", "more", "reason"),
    [
        ("s3://nobody/llama", {}, DownloadFailureReason.BUCKET_UNKNOWN),
        ("s3://models/nothing", {}, DownloadFailureReason.FILE_MISSING),
        ("s3://models/llama", {"AWS_SECRET_ACCESS_KEY": "wrong"}, DownloadFailureReason.BUCKET_DENIED),
        ("s3://models/llama", {"AWS_ACCESS_KEY_ID": "unknown"}, DownloadFailureReason.BUCKET_DENIED),
    ],
)
async def test_a_refusal_has_a_name(
    s3: LocalS3,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    uri: str,
    more: dict[str, str],
    reason: DownloadFailureReason,
) -> None:
    assert s3.url
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    failed = await failure(root, DownloadRequest(uri=uri))
    assert failed.reason is reason
    assert len(failed.message) < 300


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (PermissionError("x"), DownloadFailureReason.NO_ROUTE),
        (OSError("error performing GET http://169.254.169.254/latest"), DownloadFailureReason.BUCKET_DENIED),
        (OSError("status code: 429 Too Many Requests"), DownloadFailureReason.THROTTLED),
        (OSError("status code: 503: <Code>SlowDown</Code>"), DownloadFailureReason.THROTTLED),
        (OSError("status code: 404: <Code>ContainerNotFound</Code>"), DownloadFailureReason.BUCKET_UNKNOWN),
        (OSError("connection refused"), DownloadFailureReason.NO_ROUTE),
        (OSError("x" * 100_000), DownloadFailureReason.NO_ROUTE),
    ],
)
def test_what_stores_answer_is_told_by_its_status_and_code(said: Exception, reason: DownloadFailureReason) -> None:
    failed = refusal(said, "s3://models/llama").failure
    assert failed.reason is reason
    assert len(failed.message) < 300


@pytest.mark.parametrize("scheme", ["gs", "az"])
def test_the_other_clouds_are_reached_by_their_own_variables(scheme: str) -> None:
    key = {"AZURE_STORAGE_ACCOUNT_NAME": "name", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5", "GOOGLE_SKIP_SIGNATURE": "true"}
    with pytest.MonkeyPatch.context() as patched:
        for name, value in key.items():
            patched.setenv(name, value)
        store = bucket_store(f"{scheme}://models/llama")
    assert type(store).__name__ == {"gs": "GCSStore", "az": "AzureStore"}[scheme]


def test_an_environment_without_an_account_is_told_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(DownloadFailed) as raised:
        bucket_store("az://models/llama")
    assert raised.value.failure.reason is DownloadFailureReason.BUCKET_DENIED
