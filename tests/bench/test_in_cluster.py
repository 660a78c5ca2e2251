"""`llmservice bench --in-cluster`: a real Job from the real image, in a restricted namespace, beside llama.cpp."""

import json
import signal
import time

import pytest

from tests.bench.calling import Bench, serve
from tests.cluster.kube import Body, Kube

pytestmark = [pytest.mark.bench, pytest.mark.sandbox]

LOAD = ("--sweep", "1,3", "--requests", "12", "--answer-tokens", "60", "--prompt-tokens", "120")
KEY = "sk-bench-0123456789"


@pytest.mark.usefixtures("models", "bench_image")
def test_a_job_measures_the_service_and_leaves_nothing(kube: Kube, bench: Bench) -> None:
    serve(kube, "chat", slots=4)
    told = bench.run("chat", "--in-cluster", *LOAD)
    assert (told["target"], told["ended"], told["partial"]) == (f"{kube.namespace}/chat", 24, False)
    assert [(row["errors"], row["answer_tokens"]) for row in told["rows"]] == [({}, 60), ({}, 60)]
    assert all(row["ttft_seconds"]["p50"] > 0 and row["gap_seconds"] for row in told["rows"])
    kube.wait(lambda: not kube.list("Job") or None, lambda: kube.list("Job"))


@pytest.mark.usefixtures("models", "bench_image", "proxy_image")
def test_the_key_of_a_service_is_found_by_its_secret(kube: Kube, bench: Bench) -> None:
    kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "clients"}, "stringData": {"team": KEY}})
    serve(kube, "chat", slots=4, auth={"keysSecretRef": {"name": "clients"}})
    told = bench.run("chat", "--in-cluster", "--sweep", "2", "--requests", "6", "--answer-tokens", "20")
    assert (told["ended"], told["rows"][0]["errors"]) == (6, {})


@pytest.mark.usefixtures("models", "bench_image")
def test_ctrl_c_deletes_the_job_and_gives_what_was_measured(kube: Kube, bench: Bench) -> None:
    serve(kube, "chat", slots=4)
    steady = ("--rate", "2", "--seconds", "120", "--answer-tokens", "20", "--prompt-tokens", "80")
    running = bench.start("chat", "--in-cluster", *steady, "-o", "json")
    kube.wait(lambda: answered(kube) >= 20 or None, lambda: answered(kube), seconds=300)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=180)
    assert running.returncode == 130, errors.decode()
    told = json.loads(output)
    assert (told["partial"], told["planned"]) == (True, 240)
    assert 10 <= told["ended"] < 240
    kube.wait(lambda: not kube.list("Job") or None, lambda: kube.list("Job"))


@pytest.mark.usefixtures("models")
def test_an_image_that_is_nowhere_is_named(kube: Kube, bench: Bench) -> None:
    serve(kube, "chat", slots=4)
    running = bench.start("chat", "--in-cluster", "--image", "registry.invalid/none:1", *LOAD)
    began = time.monotonic()
    _, errors = running.communicate(timeout=400)
    assert running.returncode == 1
    assert "registry.invalid/none:1" in errors.decode(), f"after {time.monotonic() - began:.0f} s"
    kube.wait(lambda: not kube.list("Job") or None, lambda: kube.list("Job"))


def answered(kube: Kube) -> int:
    """How many requests the bench says have ended, by the log of its pod."""
    pods: list[Body] = [pod for pod in kube.list("Pod") if pod["metadata"]["name"].startswith("llmservice-bench-")]
    if not pods:
        return 0
    lines = kube.kubectl("logs", pods[0]["metadata"]["name"], check=False).splitlines()
    counts = [line.partition(" of 240 requests")[0].rpartition(" ")[2] for line in lines if " of 240 requests" in line]
    return int(counts[-1]) if counts else 0
