"""Readings from a real Prometheus: queries, time and memory of a round for 1, 10 and 100 namespaces of vLLM pods.

Run: python benchmarks/bench_prometheus.py [--pods 3]. Then the largest answer that is read: what it costs to parse.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "operator"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import orjson

from llmservice.converging.pod_readings import Reading
from llmservice.signals.prometheus import PrometheusSettings, prometheus
from llmservice.signals.prometheus_query import query_for, reduced
from llmservice.signals.source import Target
from tests.contracts.metrics_server import metrics_server
from tests.unit.signals.fake_engine import a_target, fake_engine, page, recorded

MOST_NAMESPACES = 100


def targets_in(namespaces: int, pods: int, port: int) -> list[Target]:
    """Pods that are all one server on loopback."""
    return [
        replace(a_target(f"chat-{pod}", port=port), namespace=f"team-{number}")
        for number in range(namespaces)
        for pod in range(pods)
    ]


def job(targets: list[Target]) -> dict[str, object]:
    """A scrape configuration for them, with the labels of a PodMonitor."""
    groups = [
        {"targets": [f"{each.address}:{each.port}"], "labels": {"namespace": each.namespace, "pod": each.pod}}
        for each in targets
    ]
    return {"scrape_interval": "5s", "scrape_timeout": "5s", "static_configs": groups}


def print_rounds(url: str, targets: list[Target]) -> None:
    """The round for some of the namespaces."""
    with prometheus(PrometheusSettings(url=url)) as source:
        for count in (1, 10, MOST_NAMESPACES):
            some = [each for each in targets if int(each.namespace.partition("-")[2]) < count]
            asyncio.run(source.read(some))
            began, cpu = time.perf_counter(), time.process_time()
            answers = asyncio.run(source.read(some))
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            read = sum(isinstance(answer, Reading) for answer in answers.values())
            print(
                f"{count:4} namespaces, {read} of {len(some)} pods: {count + 1} queries   {seconds * 1e3:6.0f} ms   "
                f"{cpu * 1e3:6.0f} ms CPU"
            )


def wait_for_scrapes(url: str, targets: list[Target]) -> None:
    """Until every pod was read."""
    with prometheus(PrometheusSettings(url=url)) as source:
        for _ in range(60):
            if all(isinstance(answer, Reading) for answer in asyncio.run(source.read(targets)).values()):
                return
            time.sleep(1)
    raise SystemExit("Prometheus does not scrape")


def memory(name: str) -> float:
    """MiB of this process, by the kernel's name."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def print_largest(size: int) -> None:
    """Memory of one answer that is just not too large: realistic rows, and the shortest there can be."""
    long = {"__name__": "vllm:time_to_first_token_seconds_bucket", "job": "monitoring/llmservice-operator-engines"}
    for name, usual in (("of vLLM", {**long, "le": "0.75"}), ("with the shortest rows", {"__name__": "up"})):
        row = orjson.dumps({"metric": {**usual, "instance": "10.0.0.1:8000", "pod": "chat-6c9f7d8b5c-x2x4z"}})[:-1]
        rows = b",".join([row + b',"value":[1763783617.123,"1"]}'] * (size // (len(row) + 31)))
        body = b'{"status":"success","data":{"resultType":"vector","result":[' + rows + b"]}}"
        Path("/proc/self/clear_refs").write_text("5")
        before, began = memory("VmRSS"), time.process_time()
        answer = reduced(orjson.loads(body), "pod")
        seconds = time.process_time() - began
        print(
            f"{len(body) / 2**20:.1f} MiB {name}, {len(answer['data']['result'])} rows: peak RSS "
            f"+{memory('VmHWM') - before:.0f} MiB   {seconds * 1e3:.0f} ms CPU"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=3, help="in each namespace")
    options = parser.parse_args()
    print_largest(PrometheusSettings(url="").answer_bytes)
    with ExitStack() as stack:
        engine = stack.enter_context(fake_engine(page(recorded("vllm"))))
        targets = targets_in(MOST_NAMESPACES, options.pods, engine.port)
        print(f"a query has {len(query_for(targets[:1], 'namespace', 'pod'))} letters")
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(metrics_server(folder, [job(targets)]))
        wait_for_scrapes(url, targets)
        print_rounds(url, targets)


if __name__ == "__main__":
    main()
