"""Failures of llama.cpp, provoked for real: each is told by its own reason soon after the crash, until it is mended."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from sandbox.tiny_model import tiny_model
from tests.cluster.kube import Body, Kube
from tests.cluster.services import TINY, a_tiny_service
from tests.unit.engines.gguf_files import first_of_three_parts

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SOON = 15.0
"""Seconds from the end of the engine to the reason in the status."""


@dataclass(frozen=True)
class Failure:
    """What is wrong in the spec, the reason that is told, and what the message names."""

    spec: dict[str, Any]
    reason: str
    says: str
    mended: dict[str, Any] = field(default_factory=lambda: {"engineOptions": None})


def a_model(file: str, reason: str, says: str) -> Failure:
    """A file of the volume that is not the model."""
    return Failure({"model": {"uri": f"pvc://models/{file}"}}, reason, says, {"model": {"uri": TINY}})


def an_argument(*args: str, reason: str, says: str) -> Failure:
    """Arguments that the engine does not start with."""
    return Failure({"engineOptions": {"args": list(args)}}, reason, says)


FAILURES = {
    "a file cut off": a_model("cut.gguf", "CheckpointDamaged", "blk."),
    "a file that is no model": a_model("text.gguf", "ModelNotFound", "spec.model.uri"),
    "a file whose other parts are missing": a_model("part-00001-of-00003.gguf", "CheckpointDamaged", "part-00002-of-"),
    "a value that an argument does not take": an_argument(
        *("--chat-template-file", "/absent.jinja"), reason="EngineArgumentRejected", says="/absent.jinja"
    ),
    "a template that is none": an_argument(
        *("--chat-template", "{% if %}"), reason="ChatTemplateInvalid", says="--chat-template-file"
    ),
    "an adapter that is none": Failure(
        {"adapters": [{"name": "law", "uri": "pvc://models/text.gguf"}]},
        "AdapterRejected",
        "spec.adapters",
        {"adapters": None},
    ),
    "a limit below what it needs": Failure(
        {"maxModelLen": 4096, "maxNumSeqs": 256, "pod": {"resources": {"limits": {"memory": "96Mi"}}}},
        "OutOfMemory",
        "spec.pod.resources.limits.memory",
        {"pod": {"resources": {"limits": {"memory": "1Gi"}}}},
    ),
}


_EVERY_DAY = ("a file cut off", "a value that an argument does not take", "a limit below what it needs")
"""One of each kind; the others, fifteen seconds each, are slow."""


@pytest.fixture
def broken_files(box: Sandbox) -> Iterator[None]:
    """Beside the tiny model on the sandbox's volume."""
    tiny = tiny_model()
    contents = {
        "cut.gguf": tiny[: len(tiny) // 2],
        "text.gguf": b"this is no model\n" * 8,
        "part-00001-of-00003.gguf": first_of_three_parts(tiny),
    }
    files = {Path(box.spec.models, name): content for name, content in contents.items()}
    for path, content in files.items():
        path.write_bytes(content)
        path.chmod(0o644)
    yield
    for path in files:
        path.unlink(missing_ok=True)


def first_end(kube: Kube) -> datetime | None:
    """When an engine of the namespace ended first, as the kubelet says."""
    ends = [end for pod in kube.list("Pod") for end in ends_of(pod)]
    return min(map(datetime.fromisoformat, ends), default=None)


def ends_of(pod: Body) -> Iterator[str]:
    """Of its containers, what they are in and what they were in before."""
    for status in pod.get("status", {}).get("containerStatuses") or ():
        for state in ("state", "lastState"):
            if end := status.get(state, {}).get("terminated", {}).get("finishedAt"):
                yield end


@pytest.mark.usefixtures("models", "broken_files")
@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(failure, id=name, marks=[] if name in _EVERY_DAY else [pytest.mark.slow])
        for name, failure in FAILURES.items()
    ],
)
def test_a_failure_is_named_soon_after_the_crash_and_forgotten_once_mended(kube: Kube, failure: Failure) -> None:
    kube.create(a_tiny_service(**failure.spec))
    ended = kube.wait(lambda: first_end(kube), lambda: kube.list("Pod"), seconds=60)
    left = SOON + 1 - (time.time() - ended.timestamp())  # the kubelet tells whole seconds
    told = kube.wait_reason("chat", failure.reason, seconds=max(left, 1.0))
    assert failure.says in told["message"]
    kube.patch("LLMService", "chat", {"spec": failure.mended})
    ready = kube.wait_ready("chat")
    assert all(item["reason"] != failure.reason for item in ready["status"]["conditions"])
    assert kube.condition("chat", "Stalled") == {}
