"""The real Ollama, started by the program of its container: nobody is sent to it before the model is loaded."""

import json
import ssl
import time
from pathlib import Path

import pytest

from llmservice.converging.causes import cause_in
from llmservice.engines.engine import ModelSource
from llmservice.engines.ollama.engine import ENGINE
from llmservice.engines.timed_log import timed_log
from sandbox.tiny_model import tiny_model
from tests.engines.ollama.replica import a_launch, replica
from tests.local_registry.local_registry import LocalRegistry
from tests.ports import free_port

pytestmark = pytest.mark.engines

MODEL = "tiny/llama:1b"


def of(registry: LocalRegistry, name: str = MODEL) -> ModelSource:
    return ModelSource(scheme="ollama", repository=registry.uri(name))


@pytest.fixture
def trusting(tls: tuple[ssl.SSLContext, Path]) -> dict[str, str]:
    """What makes the engine trust the registry."""
    return {"SSL_CERT_FILE": str(tls[1])}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "volume" / "tiny.gguf"
    path.parent.mkdir()
    path.write_bytes(tiny_model())
    return path


def test_a_model_of_a_registry_is_loaded_before_it_has_its_names(
    registry: LocalRegistry, trusting: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    launch = a_launch(free_port(), of(registry), "chat", "team/assistant:v1")
    with replica(launch, tmp_path, programs, trusting) as running:
        seen = []

        def is_named() -> bool:
            seen.append((running.get("/api/tags"), running.get("/api/ps")))
            return launch.probes.readiness.expects in seen[-1][0]

        running.wait(is_named)
        assert '"name"' in seen[-1][1], "loaded, by what the engine says"
        for name in ("chat", "team/assistant:v1"):
            answer = json.loads(running.post("/v1/completions", model=name, prompt="hello", max_tokens=4))
            assert answer["usage"]["completion_tokens"] == 4
        listed = {each["id"] for each in json.loads(running.get("/v1/models"))["data"]}
        assert listed == {"chat:latest", "team/assistant:v1"}, "neither the registry's name nor the one before it"
        assert running.said.count("starting go runner") == 1, "one model in memory, whatever it is called"
        assert running.stop() == 143
        report = ENGINE.start_report(running.said)
    assert (report.backend, report.kv_tokens, report.full_length_requests, report.request_tokens) == (
        "cpu",
        2048,
        4,
        512,
    )


def test_the_parts_of_a_start_are_told(
    registry: LocalRegistry, trusting: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    registry.bytes_per_second = len(tiny_model()) / 1.5
    launch = a_launch(free_port(), of(registry))
    with replica(launch, tmp_path, programs, trusting) as running:
        stamped: list[str] = []
        deadline = time.monotonic() + 60
        while "llmservice: serving" not in "\n".join(stamped) and time.monotonic() < deadline:
            now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + f".{time.time_ns() % 10**9:09}Z"
            stamped += [f"{now} {line}" for line in running.said.splitlines()[len(stamped) :]]
            time.sleep(0.01)
    times = ENGINE.start_times(timed_log("\n".join(stamped)))
    assert times.download_seconds is not None
    assert 1 < times.download_seconds < 10
    assert times.loaded_at is not None


def test_a_file_of_a_volume_is_linked_and_not_copied(file: Path, programs: Path, tmp_path: Path) -> None:
    launch = a_launch(free_port(), ModelSource(scheme="pvc", claim="models", path=str(file)))
    with replica(launch, tmp_path, programs) as running:
        running.ready(launch)
        assert "choices" in running.post("/v1/completions", model="chat", prompt="hello", max_tokens=2)
    blobs = [path for path in (tmp_path / "ollama" / "blobs").iterdir() if path.is_symlink()]
    assert [path.resolve() for path in blobs] == [file]


def test_a_container_that_is_restarted_fetches_nothing(
    registry: LocalRegistry, trusting: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    for _ in range(2):
        launch = a_launch(free_port(), of(registry))
        with replica(launch, tmp_path, programs, trusting) as running:
            running.ready(launch)
            asked = len(registry.seen)
            registry.models.clear()
    assert len(registry.seen) == asked


def test_a_model_that_a_client_unloads_is_loaded_again(file: Path, programs: Path, tmp_path: Path) -> None:
    launch = a_launch(free_port(), ModelSource(scheme="pvc", claim="models", path=str(file)))
    with replica(launch, tmp_path, programs) as running:
        running.ready(launch)
        running.post("/api/generate", model="chat", keep_alive=0)
        running.wait(lambda: '"name"' not in running.get("/api/ps"))
        running.wait(lambda: '"name"' in running.get("/api/ps"))
        assert "llmservice: loading again" in running.said


def test_it_ends_at_once_when_it_is_stopped_while_it_fetches(
    registry: LocalRegistry, trusting: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    registry.bytes_per_second = 1000
    launch = a_launch(free_port(), of(registry))
    with replica(launch, tmp_path, programs, trusting) as running:
        running.wait(lambda: any("/blobs/" in path for path in registry.seen))
        began = time.monotonic()
        assert running.stop() == 143
        assert time.monotonic() - began < launch.stop_seconds


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "ModelNotFound"),
        (
            (412, "\n\nThe model you are attempting to pull requires a newer version of Ollama.\n"),
            "UnsupportedModelSource",
        ),
        ((403, "forbidden"), "ModelAccessDenied"),
        ((429, "too many requests"), "HubThrottled"),
        ((503, "try again"), "HubUnreachable"),
    ],
)
def test_why_nothing_was_fetched_is_on_the_log(
    registry: LocalRegistry,
    trusting: dict[str, str],
    programs: Path,
    tmp_path: Path,
    answer: tuple[int, str] | None,
    reason: str,
) -> None:
    if answer:
        registry.answers[MODEL] = answer
    name = MODEL if answer else "tiny/other:1b"
    with replica(a_launch(free_port(), of(registry, name)), tmp_path, programs, trusting) as running:
        assert running.process.wait(30) == 1
        found = cause_in(running.said, ENGINE.log_patterns, 0)
    assert found is not None, running.said[-2000:]
    assert found.reason == reason


def test_a_registry_that_is_not_trusted_and_bytes_that_are_not_the_promised_ones_are_told(
    registry: LocalRegistry, trusting: dict[str, str], programs: Path, tmp_path: Path
) -> None:
    registry.wrong_bytes = True
    for environment, reason in (({}, "HubUnreachable"), (trusting, "CheckpointDamaged")):
        with replica(a_launch(free_port(), of(registry)), tmp_path, programs, environment) as running:
            assert running.process.wait(30) == 1
            found = cause_in(running.said, ENGINE.log_patterns, 0)
        assert found is not None, running.said[-2000:]
        assert found.reason == reason


def test_a_file_that_is_missing_or_of_another_kind_is_told(programs: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(b"this is text" * 100)
    for path in (tmp_path / "missing.gguf", other):
        source = ModelSource(scheme="pvc", claim="models", path=str(path))
        with replica(a_launch(free_port(), source), tmp_path, programs) as running:
            assert running.process.wait(30) == 1
            found = cause_in(running.said, ENGINE.log_patterns, 0)
        assert found is not None, running.said[-2000:]
        assert found.reason == "ModelNotFound"
