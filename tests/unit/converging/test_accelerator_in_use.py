"""Whether engines use their devices: the condition, its figures beside the planned, and what the status remembers."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.status import StartStatus
from llmservice.converging.accelerator_in_use import accelerator_in_use, blocks_ready, started_pods
from llmservice.converging.conditions import Condition
from llmservice.converging.start_status import kept_reports, start_of, start_status
from llmservice.engines.registry import ENGINES
from llmservice.engines.start_report import StartReport
from llmservice.models.sizes import GIB
from llmservice.planning.fit.room import Room
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome, Verdict
from tests.unit.converging.plans import a_plan, a_pod, running

USED = StartReport(
    backend="cuda",
    devices=("CUDA0 (NVIDIA L4)",),
    device_count=1,
    offloaded_layers=33,
    layers=33,
    kv_bytes=int(12.3 * GIB),
    kv_tokens=28_672,
    full_length_requests=3.5,
    request_tokens=8192,
)
ON_CPU = StartReport(backend="cpu", kv_bytes=GIB)
PARTLY = dataclasses.replace(USED, offloaded_layers=20)


def started(name: str = "chat-1", *, template: str = "rs-1", created: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    pod = a_pod(name, **running(ready=True))
    owner = {"kind": "ReplicaSet", "name": template, "uid": template, "controller": True}
    pod["metadata"] |= {"ownerReferences": [owner], "creationTimestamp": created}
    return pod


def told(*pods: Any, predicted: Verdict | None = None, **reports: Any) -> Condition | None:
    named = {name.replace("_", "-"): report for name, report in reports.items()}
    return accelerator_in_use(a_plan(), pods, named, predicted)


def outcome(condition: Condition | None) -> tuple[bool | None, str] | None:
    return None if condition is None else (condition.status, str(condition.reason))


def predicted(requests: float = 3.4, careful: float = 11.0, optimistic: float = 13.0) -> Verdict:
    memory = ENGINES["vllm"].capabilities.memory
    assert memory is not None
    setup = Setup(use=memory, max_model_len=8192, max_num_seqs=8, batched_tokens=2048, utilization=0.92)
    room = Room(
        usable=20 * GIB, weights=5 * GIB, optimistic=optimistic * GIB, careful=careful * GIB, request=GIB, reserved=1
    )
    return Verdict(outcome=Outcome.FITS, setup=setup, message="", room=room, full_length_requests=requests)


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ({"chat_1": USED}, (True, "AcceleratorInUse")),
        ({"chat_1": ON_CPU}, (False, "AcceleratorNotUsed")),
        ({"chat_1": PARTLY}, (False, "AcceleratorPartlyUsed")),
        ({"chat_1": StartReport()}, (None, "AcceleratorNotReported")),
        ({}, (None, "AcceleratorNotReported")),
        ({"chat_1": USED, "chat_2": ON_CPU}, (False, "AcceleratorNotUsed")),
        ({"chat_1": USED, "chat_2": StartReport()}, (True, "AcceleratorInUse")),
        ({"gone": ON_CPU, "chat_1": USED}, (True, "AcceleratorInUse")),
    ],
)
def test_what_the_engines_say_decides(reports: dict[str, Any], expected: tuple[bool | None, str]) -> None:
    assert outcome(told(started("chat-1"), started("chat-2"), **reports)) == expected


def test_without_devices_or_a_started_engine_there_is_no_condition() -> None:
    pods = [started()]
    assert accelerator_in_use(a_plan(devices=0), pods, {"chat-1": ON_CPU}) is None
    assert told(a_pod(ready=False, **running(started=False)), chat_1=ON_CPU) is None
    assert told() is None


def test_layers_on_the_cpu_are_right_where_they_were_asked_for() -> None:
    asked = a_plan(offload_layers=20)
    condition = accelerator_in_use(asked, [started()], {"chat-1": PARTLY})
    assert outcome(condition) == (True, "AcceleratorInUse")
    assert condition is not None
    assert "20 of 33" in condition.message


def test_the_message_has_the_engines_figures_beside_the_planned() -> None:
    condition = told(started(), predicted=predicted(), chat_1=USED)
    assert condition is not None
    for figure in ("33 of 33", "CUDA", "12.3", "11.0", "13.0", "3.5", "3.4", "8192"):
        assert figure in condition.message


def test_an_engine_that_reserves_its_cache_is_compared_with_what_it_was_to_reserve() -> None:
    memory = ENGINES["llamacpp"].capabilities.memory
    assert memory is not None
    found = predicted()
    assert found.room is not None
    reserved = dataclasses.replace(
        found, setup=dataclasses.replace(found.setup, use=memory), room=dataclasses.replace(found.room, reserved=4)
    )
    status = start_status([started()], {"chat-1": USED}, reserved)
    assert status is not None
    assert (status["predictedKvCacheBytes"], status["predictedKvCacheBytesAtMost"]) == (4 * GIB, 4 * GIB)
    assert status["predictedFullLengthRequests"] == "4.00"


@pytest.mark.parametrize(
    ("planned", "named", "shown"),
    [
        (1, ("CUDA0 (NVIDIA L4)",), "CUDA0 (NVIDIA L4)"),
        (2, ("CUDA0 (NVIDIA L4)",), "1 of 2"),
        (4, tuple("abcd"), "4 CUDA"),
    ],
)
def test_the_message_says_which_devices_or_how_many(planned: int, named: tuple[str, ...], shown: str) -> None:
    report = dataclasses.replace(USED, devices=named, device_count=len(named))
    condition = accelerator_in_use(a_plan(devices=planned), [started()], {"chat-1": report})
    assert condition is not None
    assert shown in condition.message
    assert ("1 of 2" in condition.message) == (planned == 2)


def test_no_requests_are_told_of_a_length_that_nobody_knows() -> None:
    report = dataclasses.replace(USED, request_tokens=None)
    condition = accelerator_in_use(a_plan(max_model_len=0), [started()], {"chat-1": report})
    assert condition is not None
    assert "3.5" not in condition.message


def test_requests_of_another_length_are_not_compared() -> None:
    condition = told(started(), predicted=predicted(7.7), chat_1=dataclasses.replace(USED, request_tokens=4096))
    assert condition is not None
    assert "7.7" not in condition.message


def test_the_message_needs_no_prediction() -> None:
    condition = told(started(), chat_1=dataclasses.replace(USED, full_length_requests=None, request_tokens=None))
    assert condition is not None
    assert "7.0" in condition.message  # 28672 tokens, 4096 each


def test_of_several_replicas_the_one_with_the_least_room_is_told() -> None:
    less = dataclasses.replace(USED, kv_tokens=8192, full_length_requests=1.0)
    condition = told(started("chat-1"), started("chat-2"), chat_1=USED, chat_2=less)
    assert condition is not None
    assert "1.0" in condition.message
    assert "3.5" not in condition.message


def test_who_leaves_devices_idle_is_named() -> None:
    condition = told(started("chat-1"), started("chat-2"), chat_1=USED, chat_2=ON_CPU)
    assert condition is not None
    for word in ("chat-2", "1 of 2", "1 x L4", "spec.gpu.verify", "runtimeClassName"):
        assert word in condition.message


def test_replicas_of_an_older_template_do_not_count() -> None:
    old = started("old", template="rs-0")
    new = started("new", template="rs-1", created="2026-01-02T00:00:00Z")
    assert [pod["metadata"]["name"] for pod in started_pods([old, new])] == ["new"]
    assert outcome(told(old, new, old=ON_CPU, new=USED)) == (True, "AcceleratorInUse")


@pytest.mark.parametrize(
    ("report", "verify", "blocks"),
    [(ON_CPU, True, True), (ON_CPU, False, False), (USED, True, False), (StartReport(), True, False)],
)
def test_only_devices_that_are_known_to_be_idle_block_ready(report: StartReport, verify: bool, blocks: bool) -> None:
    assert blocks_ready(told(started(), chat_1=report), verify=verify) == blocks


def test_nothing_known_blocks_nothing() -> None:
    assert not blocks_ready(None, verify=True)


def test_the_status_remembers_whose_log_was_read() -> None:
    pods = [started("chat-1"), started("chat-2")]
    status = start_status(pods, {"chat-1": USED}, predicted())
    assert status is not None
    assert status["starts"] == [start_of(pods[0])]
    assert (status["kvCacheBytes"], status["fullLengthRequests"]) == (int(12.3 * GIB), "3.50")
    assert (status["predictedKvCacheBytes"], status["predictedKvCacheBytesAtMost"]) == (11 * GIB, 13 * GIB)
    assert status["predictedFullLengthRequests"] == "3.40"
    assert kept_reports({"start": status}, pods) == {"chat-1": USED}


def test_a_restarted_engine_is_another_start() -> None:
    pod = started()
    status = start_status([pod], {"chat-1": USED})
    again = started()
    again["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = "2026-01-01T00:01:00Z"
    assert kept_reports({"start": status}, [again]) == {}


def test_the_status_is_about_the_replica_that_leaves_its_devices_idle() -> None:
    pods = [started("chat-1"), started("chat-2")]
    status = start_status(pods, {"chat-1": USED, "chat-2": ON_CPU})
    assert status is not None
    assert (status["backend"], status["starts"]) == ("cpu", [start_of(pods[1])])


@pytest.mark.parametrize("partly", [PARTLY, dataclasses.replace(PARTLY, kv_tokens=100_000)])
def test_a_restarted_operator_says_the_same_of_a_replica_with_layers_on_the_cpu(partly: StartReport) -> None:
    pods = [started("chat-1"), started("chat-2")]
    status = start_status(pods, {"chat-1": partly, "chat-2": USED})
    assert status is not None
    kept = kept_reports({"start": status}, pods)
    assert outcome(accelerator_in_use(a_plan(), pods, {"chat-2": USED, **kept})) == (False, "AcceleratorPartlyUsed")
    assert kept == {"chat-1": partly}


def test_of_replicas_that_use_all_of_their_devices_each_is_remembered() -> None:
    pods = [started("chat-1"), started("chat-2")]
    status = start_status(pods, {"chat-1": USED, "chat-2": dataclasses.replace(USED, kv_tokens=100_000)})
    assert status is not None
    assert len(status["starts"]) == 2


HUGE_LOGS = {
    "tgi": "Using attention flashinfer - Prefix caching true\nKV-cache blocks: 999999999999, size: 999999",
    "vllm": "KV cache size: 9,007,199,254,740,992 tokens\nAvailable KV cache memory: 999999999999 GiB\n"
    "tensor_parallel_size=9999, pipeline_parallel_size=9999, device_config=cuda\n"
    "Maximum concurrency for 999999999999999 tokens per request: 999999999999999x",
    "llamacpp": "llama_kv_cache: CUDA0 KV buffer size = 8589934591 MiB\n"
    * 3
    + "offloaded 99999/99999 layers to GPU\nllama_context: n_ctx = 999999999999\n"
    "load_model: initializing slots, n_slots = 999999\nn_ctx_slot = 1\n",
}


@pytest.mark.parametrize("engine", HUGE_LOGS)
def test_whatever_a_log_says_the_schema_takes_the_status(engine: str) -> None:
    report = ENGINES[engine].start_report(HUGE_LOGS[engine])
    status = start_status([started()], {"chat-1": report}, predicted(requests=1e15, careful=1e10, optimistic=1e10))
    assert StartStatus.model_validate(status, by_alias=True, by_name=False).starts


def test_secrets_in_the_name_of_a_device_are_hidden() -> None:
    token = "hf_abcDEF0123456789abcdef"  # noqa: S105  (none)
    report = ENGINES["llamacpp"].start_report(f"using device CUDA0 (a card, {token}, {'x' * 60}) - 9 MiB free\n")
    assert token in report.devices[0]
    status = start_status([started()], {"chat-1": report})
    assert status is not None
    assert token not in str(status)
    assert StartStatus.model_validate(status, by_alias=True, by_name=False).devices


def test_a_log_that_says_nothing_is_remembered_too() -> None:
    pod = started()
    status = start_status([pod], {"chat-1": StartReport()})
    assert status == {"starts": [start_of(pod)]}
    assert kept_reports({"start": status}, [pod]) == {"chat-1": StartReport()}


@pytest.mark.parametrize("status", [{}, {"start": None}, {"start": {"starts": None}}, {"start": []}])
def test_a_status_without_starts_remembers_nothing(status: dict[str, Any]) -> None:
    assert kept_reports(status, [started()]) == {}


def test_what_others_wrote_into_the_status_is_no_report() -> None:
    pod = started()
    start = {"starts": [start_of(pod)], "backend": 7, "layers": "x", "fullLengthRequests": "many"}
    assert kept_reports({"start": start}, [pod]) == {"chat-1": StartReport()}


def test_no_report_is_no_status() -> None:
    assert start_status([started()], {}) is None
