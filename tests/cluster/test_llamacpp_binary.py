"""llama.cpp's real binary against what its engine file says of it: options, log lines, slots, and leaving."""

import contextlib
import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.recorded_flags import options_in_help, recorded_options
from llmservice.converging.causes import cause_in
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP
from llmservice.planning.facts import RegistrySettings, choose_facts
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.start_logs import HEAD_BYTES
from sandbox.build_llama import llama_build
from sandbox.cache import cache_folder
from sandbox.tiny_model import tiny_model
from tests.builders import an_llmservice
from tests.unit.engines.gguf_files import first_of_three_parts

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

VERBOSITY = "LLAMA_ARG_LOG_VERBOSITY"


@pytest.fixture(scope="session")
def binary() -> Path:
    """The program the sandbox packs as the engine's image (`make setup` builds it)."""
    return llama_build().folder(cache_folder()) / "llama-server"


def output_of(binary: Path, *arguments: str) -> str:
    done = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    return done.stdout + done.stderr


def test_the_recorded_options_are_those_of_the_binary(binary: Path) -> None:
    recorded = resources("llmservice.catalog").joinpath("flags/llamacpp-b11312.txt").read_text("utf-8")
    assert list(recorded_options(recorded)) == list(options_in_help(output_of(binary, "--help")))


CUT, PARTS, TINY = "cut.gguf", "part-00001-of-00003.gguf", "tiny.gguf"


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tiny model, half of it, and the first of its parts."""
    folder, tiny = tmp_path_factory.mktemp("models"), tiny_model()
    for name, content in {TINY: tiny, CUT: tiny[: len(tiny) // 2], PARTS: first_of_three_parts(tiny)}.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--model", "/there/is/none.gguf"), "ModelNotFound"),
        (("--model", __file__), "ModelNotFound"),
        (("--model", CUT), "CheckpointDamaged"),
        (("--model", PARTS), "CheckpointDamaged"),
        (("--threads=4",), "EngineArgumentRejected"),
        (("--ctx-size", "many"), "EngineArgumentRejected"),
        (("--model", TINY, "--mmproj", "none.gguf"), "EngineArgumentRejected"),
        (("--model", TINY, "--model-draft", "none.gguf"), "EngineArgumentRejected"),
        (("--model", TINY, "--lora", TINY), "AdapterRejected"),
        (("--model", TINY, "--chat-template", "{% if %}"), "ChatTemplateInvalid"),
    ],
)
def test_its_last_words_name_the_cause(binary: Path, files: Path, arguments: tuple[str, ...], reason: str) -> None:
    here = [str(files / word) if word in {TINY, CUT, PARTS} else word for word in arguments]
    log = output_of(binary, "--host", "127.0.0.1", "--port", "0", *here)
    found = cause_in(log, LLAMACPP.log_patterns)
    assert found is not None
    assert found.reason == reason


def test_a_taken_port_is_named(binary: Path, files: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        log = output_of(binary, "--model", str(files / TINY), "--host", "127.0.0.1", "--port", port)
    found = cause_in(log, LLAMACPP.log_patterns)
    assert found is not None
    assert found.reason == "PortInUse"


@dataclass
class Server:
    """The binary, started as planned but on a free port of this machine."""

    plan: ServicePlan
    process: subprocess.Popen[bytes]
    port: int
    answers: list[int] = field(default_factory=list)

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            return json.loads(response.read())

    def complete(self, tokens: int) -> None:
        """One request; keeps the status of its answer."""
        body = json.dumps({"prompt": "a", "max_tokens": tokens, "ignore_eos": True}).encode()
        url, headers = f"http://127.0.0.1:{self.port}/v1/completions", {"Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=300) as response:
            self.answers.append(response.status)

    def wait_healthy(self) -> None:
        for _ in range(200):
            try:
                self.get("/health")
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
            else:
                return
        raise AssertionError("llama-server did not become healthy")

    def pre_stop(self) -> list[str]:
        """The preStop command, asking this server."""
        return [word.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}") for word in self.plan.container.pre_stop]


@contextlib.contextmanager
def serving(binary: Path, folder: Path, **spec: Any) -> Iterator[Server]:
    """The binary as it is planned for two requests of 600 tokens at once; its log is the file `log` of the folder."""
    service = LLMService.parse(an_llmservice(spec__maxModelLen=600, spec__maxNumSeqs=2, **spec))
    plan = plan_service(service, choose_facts(service, load_catalogue(), RegistrySettings(), "", kept=None))
    (folder / "tiny.gguf").write_bytes(tiny_model())
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    here = {"0.0.0.0": "127.0.0.1", "8000": str(port), "/models/tiny.gguf": str(folder / "tiny.gguf")}  # noqa: S104
    command = [str(binary), *(here.get(word, word) for word in plan.container.args)]
    said = {item["name"]: item["value"] for item in plan.container.environment if item["name"] == VERBOSITY}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **said}) as process,  # noqa: S603
    ):
        server = Server(plan, process, port)
        server.wait_healthy()
        yield server
        process.terminate()


@pytest.fixture
def server(binary: Path, tmp_path: Path) -> Iterator[Server]:
    with serving(binary, tmp_path) as server:
        yield server


@pytest.mark.parametrize(("own", "tokens"), [([], 1536), ([{"name": VERBOSITY, "value": "3"}], None)])
def test_its_start_says_that_no_device_is_there(
    binary: Path, tmp_path: Path, own: list[dict[str, str]], tokens: int | None
) -> None:
    with serving(binary, tmp_path, spec__gpu={"type": "L4"}, spec__engineOptions={"env": own}):
        pass
    log = (tmp_path / "log").read_text("utf-8")
    report = LLAMACPP.start_report(log)
    assert (report.backend, report.in_use, report.kv_tokens) == ("cpu", False, tokens)
    assert (report.full_length_requests, report.request_tokens) == (2.0, 600)
    assert len(log) < HEAD_BYTES / 4


def test_each_slot_holds_exactly_one_request_of_the_planned_length(server: Server) -> None:
    assert [slot["n_ctx"] for slot in server.get("/slots")] == [600, 600]


def test_a_replica_leaves_after_its_last_request_and_not_before(server: Server) -> None:
    """Six requests: two run, four wait."""
    requests = [threading.Thread(target=server.complete, args=(590,)) for _ in range(6)]
    for request in requests:
        request.start()
    while not any(slot["is_processing"] for slot in server.get("/slots")):
        time.sleep(0.01)
    subprocess.run(server.pre_stop(), check=True, timeout=300)  # noqa: S603
    server.process.terminate()
    for request in requests:
        request.join(60)
    assert server.answers == [200] * 6
