"""`llmservice bench` on the real vLLM, and the autoscaler that starts from what it measured."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice.bench.records import NO_TEXT
from sandbox import Sandbox
from tests.bench.calling import Bench
from tests.cluster.kube import Kube
from tests.cluster.services import address_of, ask
from tests.cluster.target import Target
from tests.load.in_flight import InFlight
from tests.vllm.services import a_vllm_service

pytestmark = pytest.mark.vllm

CLOSE = 0.05
LEVELS = ("--sweep", "1,2,4", "--requests", "10", "--mixed", "--prompt-tokens", "100", "--answer-tokens", "40")


def test_what_a_bench_measured_is_where_the_autoscaler_starts(
    kube: Kube, target: Target, vllm_node: Sandbox, tmp_path: Path
) -> None:
    vllm_node.model_volume(kube.namespace, "models")
    kube.create(a_vllm_service())
    kube.wait_ready("chat", seconds=600)
    ask(kube)
    profile = tmp_path / "vllm.yaml"
    told = Bench(target, kube).run("chat", *LEVELS, "--save", str(profile), "--keep", str(tmp_path / "kept"))
    assert (told["ended"], told["partial"]) == (30, False)
    for number, row in enumerate(told["rows"], start=1):
        report = report_of(tmp_path / "kept", number)
        assert set(row["errors"]) <= {NO_TEXT}, "which this model of random weights may say"
        assert row["tokens_per_second"] == pytest.approx(report["output_token_throughput"]["avg"], rel=CLOSE)
        assert row["ttft_seconds"]["p90"] == pytest.approx(report["time_to_first_token"]["p90"] / 1e3, rel=CLOSE)

    measured = yaml.safe_load(profile.read_text("utf-8"))["autoscaling"]["profile"]
    assert len(measured) == 3
    kube.patch("LLMService", "chat", {"spec": {"autoscaling": {"maxReplicas": 1, "profile": measured}}})
    with InFlight(address_of(kube), 2, max_tokens=60):
        kube.wait(lambda: "spec.autoscaling.profile" in message(kube) or None, lambda: message(kube), seconds=180)


def report_of(kept: Path, run: int) -> dict[str, Any]:
    """The load generator's own figures."""
    path = kept / f"target-1/run-{run}/output/profile_export_aiperf.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def message(kube: Kube) -> str:
    body = kube.get("LLMService", "chat") or {}
    return str((body.get("status", {}).get("autoscaling") or {}).get("message", ""))
