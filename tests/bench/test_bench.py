"""`llmservice bench` with the real load generator on real llama.cpp, through the API server and by address."""

import json
import signal
import time
from pathlib import Path

import pytest

from tests.bench.calling import Bench, serve
from tests.cluster.kube import Kube
from tests.cluster.services import address_of

pytestmark = pytest.mark.bench

LOAD = ("--sweep", "1,3", "--requests", "12", "--answer-tokens", "60", "--prompt-tokens", "120")
CLOSE = 0.05
"""To the generator's own report: both are made from the same requests."""


@pytest.mark.usefixtures("models")
def test_figures_are_those_of_the_generators_own_report(kube: Kube, bench: Bench, tmp_path: Path) -> None:
    serve(kube, "chat", slots=4)
    told = bench.run("chat", *LOAD, "--keep", str(tmp_path))
    assert (told["ended"], told["planned"], told["partial"]) == (24, 24, False)
    for number, row in enumerate(told["rows"], start=1):
        path = tmp_path / f"target-1/run-{number}/output/profile_export_aiperf.json"
        report = json.loads(path.read_text(encoding="utf-8"))
        assert row["errors"] == {}
        assert row["answer_tokens"] == 60
        assert row["tokens_per_second"] == pytest.approx(report["output_token_throughput"]["avg"], rel=CLOSE)
        pairs = {
            "ttft_seconds": "time_to_first_token",
            "end_to_end_seconds": "request_latency",
            "inter_token_seconds": "inter_token_latency",
        }
        for ours, theirs in pairs.items():
            for name in ("p50", "p90", "p99"):
                assert row[ours][name] == pytest.approx(report[theirs][name] / 1e3, rel=CLOSE), (number, ours, name)


@pytest.mark.usefixtures("models")
def test_two_services_by_address_come_with_a_decision(kube: Kube, bench: Bench) -> None:
    serve(kube, "chat", slots=4)
    serve(kube, "other", slots=1)
    told = bench.run(address_of(kube, "chat"), "--against", address_of(kube, "other"), *LOAD)
    assert (told["ended"], told["against"]["ended"]) == (24, 24)
    assert told["decision"].startswith("Decision: ")


@pytest.mark.usefixtures("models")
def test_ctrl_c_after_half_gives_half(kube: Kube, bench: Bench, tmp_path: Path) -> None:
    serve(kube, "chat", slots=4)
    steady = ("--rate", "2", "--seconds", "30", "--answer-tokens", "20", "--prompt-tokens", "80")
    running = bench.start("chat", *steady, "-o", "json", "--keep", str(tmp_path))
    records = tmp_path / "target-1/run-1/output/profile_export.jsonl"
    deadline = time.monotonic() + 300
    while not records.exists() or records.read_bytes().count(b"\n") < 30:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    output, errors = running.communicate(timeout=120)
    told = json.loads(output)
    assert running.returncode == 130, errors.decode()
    assert told["partial"]
    assert told["planned"] == 60
    assert 30 <= told["ended"] <= 40
