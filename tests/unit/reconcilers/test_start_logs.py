"""Beginnings of logs: read once for each start, in turns, and not at all where a status knows."""

import asyncio
from typing import Any

import pytest

from llmservice.converging.start_status import start_status
from llmservice.engines.registry import ENGINES
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import UNTIMED
from llmservice.errors import Unavailable
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.planning.service_plan import Owner
from llmservice.reconcilers import start_logs
from llmservice.reconcilers.remembered_reports import Remembered, RememberedReports
from llmservice.reconcilers.start_logs import StartLogs
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.converging.plans import a_plan, a_pod, running
from tests.unit.converging.starting import at

LOG = "load_tensors: offloaded 33/33 layers to GPU\n"


class CountedLogs(InMemoryCluster):
    """Every pod has the same log; `asked` is whose was read. While `fails`, none can be."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fails = False
        self.gate = asyncio.Event()
        self.gate.set()

    async def log_head(self, ref: Ref, container: str, *, max_bytes: int = 65_536) -> str:  # noqa: ARG002
        self.asked.append(ref.name)
        await self.gate.wait()
        if self.fails:
            raise Unavailable("InternalError", "the node does not answer")
        return LOG


def pods(number: int, since: str = "2026-01-01T00:00:10Z") -> list[Manifest]:
    return [a_pod(f"chat-{index}", **running(since=since)) for index in range(number)]


async def test_each_start_is_read_once() -> None:
    cluster = CountedLogs()
    logs = StartLogs(cluster)
    for _ in range(3):
        found = await logs.read(a_plan(), pods(2), {})
        assert {name: report.layers for name, report in found.reports.items()} == {"chat-0": 33, "chat-1": 33}
        assert found.requeue_seconds is None
    assert cluster.asked == ["chat-0", "chat-1"]
    await logs.read(a_plan(), pods(2, "2026-01-01T01:00:00Z"), {})
    assert cluster.asked == ["chat-0", "chat-1"] * 2


@pytest.mark.parametrize(
    ("devices", "pod"), [(0, a_pod(**running())), (1, a_pod(**running(started=False))), (1, a_pod(ready=False))]
)
async def test_without_devices_and_before_the_start_nothing_is_read(devices: int, pod: Manifest) -> None:
    cluster = CountedLogs()
    found = await StartLogs(cluster).read(a_plan(devices=devices), [pod], {})
    assert (found.reports, found.requeue_seconds, cluster.asked) == ({}, None, [])


async def test_without_devices_the_log_of_the_start_that_is_followed_is_read_for_its_times() -> None:
    cluster = CountedLogs()
    logs, several = StartLogs(cluster), pods(3)
    for _ in range(2):
        found = await logs.read(a_plan(devices=0), several, {}, several[1])
        assert found.times == {"chat-1": UNTIMED}
    assert cluster.asked == ["chat-1"]


async def test_the_times_of_a_start_are_known_once_its_log_was_read_or_could_not_be() -> None:
    cluster = CountedLogs()
    cluster.gate.clear()
    logs, (pod,) = StartLogs(cluster), pods(1)
    assert (await logs.read(a_plan(), [pod], {}, pod)).times == {}
    cluster.fails = True
    cluster.gate.set()
    assert (await logs.read(a_plan(), [pod], {}, pod)).times == {"chat-0": UNTIMED}


async def test_the_times_are_those_of_the_kubelet(monkeypatch: pytest.MonkeyPatch) -> None:
    stamped = "2026-01-01T00:00:30.5Z 0.00.1 I cmn common_init_: warming up the model\n"
    monkeypatch.setattr(f"{__name__}.LOG", stamped + LOG)
    found = await StartLogs(CountedLogs()).read(a_plan(), pods(1), {})
    assert found.times["chat-0"].loaded_at == at(30.5)
    assert found.reports["chat-0"].layers == 33


async def test_a_restarted_operator_reads_only_what_no_status_knows() -> None:
    cluster = CountedLogs()
    status = {"start": start_status(pods(2), {"chat-0": StartReport(backend="cuda")})}
    found = await StartLogs(cluster).read(a_plan(), pods(2), status)
    assert (found.reports["chat-0"].backend, found.reports["chat-1"].layers) == ("cuda", 33)
    assert cluster.asked == ["chat-1"]


async def test_what_cannot_be_read_is_asked_for_much_later(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = CountedLogs()
    cluster.fails = True
    logs = StartLogs(cluster)
    for _ in range(3):
        found = await logs.read(a_plan(), pods(1), {})
        assert found.reports == {}
        assert found.requeue_seconds is not None
        assert 200 < found.requeue_seconds <= 300
    assert cluster.asked == ["chat-0"]
    cluster.fails = False
    monkeypatch.setattr(start_logs, "_now", lambda: asyncio.get_running_loop().time() + 301)
    assert (await logs.read(a_plan(), pods(1), {})).reports["chat-0"].layers == 33


async def test_a_log_that_nobody_may_read_is_asked_for_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, now = CountedLogs(), 0.0
    cluster.fails = True
    monkeypatch.setattr(start_logs, "_now", lambda: now)
    logs, pauses = StartLogs(cluster), []
    for _ in range(6):
        pauses.append((await logs.read(a_plan(), pods(1), {})).requeue_seconds)
        now += pauses[-1] or 0.0
    assert pauses == [300, 600, 1200, 2400, 3600, 3600]


async def test_a_bug_in_reading_one_log_is_logged_and_not_met_again_at_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    cluster = CountedLogs()
    logs = StartLogs(cluster)
    monkeypatch.setattr(type(ENGINES["llamacpp"]), "start_report", lambda *_: 1 // 0)
    for _ in range(3):
        found = await logs.read(a_plan(), pods(1), {})
        assert (found.reports, (found.requeue_seconds or 0) > 200) == ({}, True)
    assert cluster.asked == ["chat-0"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_an_empty_log_counts_as_unread() -> None:
    logs = StartLogs(InMemoryCluster())
    found = await logs.read(a_plan(), pods(1), {})
    assert (found.reports, found.requeue_seconds is not None) == ({}, True)


async def test_a_node_that_does_not_answer_does_not_hold_up_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_logs, "_PATIENCE_SECONDS", 0.01)
    cluster = CountedLogs()
    cluster.gate.clear()
    logs = StartLogs(cluster)
    found = await logs.read(a_plan(), pods(1), {})
    assert (found.reports, found.requeue_seconds) == ({}, 1.0)
    again = await logs.read(a_plan(), pods(1), {})
    assert (again.requeue_seconds, cluster.asked) == (1.0, ["chat-0"])
    cluster.gate.set()
    assert (await logs.read(a_plan(), pods(1), {})).reports["chat-0"].layers == 33
    assert cluster.asked == ["chat-0"]


async def test_a_thousand_replicas_are_read_over_minutes_each_in_a_turn_of_its_own() -> None:
    cluster = CountedLogs()
    found = await StartLogs(cluster).read(a_plan(), pods(1000), {})
    assert (len(cluster.asked), len(found.reports)) == (16, 16)
    turns = StartLogs(cluster)._rate
    assert (turns.burst, turns.seconds) == (20, 0.2)


async def test_namespaces_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start_logs, "_PATIENCE_SECONDS", 0.01)
    cluster = CountedLogs()
    cluster.gate.clear()
    logs = StartLogs(cluster)
    await logs.read(a_plan(), pods(50), {})
    assert 0 < len(cluster.asked) < 4
    await logs.read(*_of_another_namespace(), {})
    await asyncio.sleep(0.01)
    assert cluster.asked[-1] == "victim"
    cluster.gate.set()


async def test_behind_many_others_no_pass_waits_and_each_looks_again_when_it_is_time() -> None:
    cluster = CountedLogs()
    cluster.gate.clear()
    logs = StartLogs(cluster)
    for number in range(10):
        (pod, *_) = others = pods(20)
        for other in others:
            other["metadata"] |= {"namespace": f"n-{number}", "uid": f"{number} {other['metadata']['name']}"}
        began = asyncio.get_running_loop().time()
        plan = a_plan(owner=Owner(namespace=pod["metadata"]["namespace"], name="chat", uid="u", generation=1))
        found = await logs.read(plan, others, {})
    assert asyncio.get_running_loop().time() - began < 0.1
    assert found.requeue_seconds == 160 / 40
    cluster.gate.set()


def _of_another_namespace() -> tuple[Any, list[Manifest]]:
    plan = a_plan()
    (pod,) = pods(1)
    pod["metadata"] |= {"namespace": "other", "name": "victim", "uid": "victim"}
    return a_plan(owner=type(plan.owner)(namespace="other", name="chat", uid="u-2", generation=1)), [pod]


def test_the_namespace_that_has_most_forgets_first() -> None:
    reports = RememberedReports(at_most=3)
    for namespace, start in (("a", "1"), ("b", "1"), ("b", "2"), ("b", "3")):
        reports.put(namespace, start, Remembered(0.0, StartReport()))
    assert [reports.get("a", "1") is None, reports.get("b", "1") is None] == [False, True]
    reports.put("b", "3", Remembered(0.0, None))
    assert reports.get("b", "2") is not None


async def test_the_log_is_that_of_the_engine_and_its_head_is_bounded() -> None:
    cluster = InMemoryCluster()
    (pod,) = pods(1)
    cluster.logs[(ref_of(pod), "engine", False)] = LOG + "x" * 100_000 + "offloaded 1/33 layers to GPU\n"
    found = await StartLogs(cluster).read(a_plan(), [pod], {})
    assert found.reports["chat-0"].offloaded_layers == 33
