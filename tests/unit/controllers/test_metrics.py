from collections.abc import Mapping

import pytest
from prometheus_client import generate_latest

from llmservice import __version__
from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.event_rate_limiter import EventRateLimiter
from llmservice.cluster.transport.connection import Connection
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.controllers.endpoints.health import LoopPulse
from llmservice.controllers.metrics.instruments import Metrics
from llmservice.controllers.metrics.measuring import Measured, MeasuredQueue, count_requests
from llmservice.controllers.metrics.process_series import ProcessSeries
from llmservice.controllers.metrics.service_series import ServiceSeries
from llmservice.errors import Conflict, Unavailable
from llmservice.objects.references import Manifest, Ref
from llmservice.reconcilers.workers import ServiceKey
from tests.unit.cluster.fake_api_server import FakeApiServer, answer, serving

KEY = ("ml", "chat")
QUEUE = {"name": "llmservice", "controller": "llmservice"}


def value(metrics: Metrics, name: str, labels: Mapping[str, str] | None = None) -> float | None:
    return metrics.registry.get_sample_value(name, dict(labels or {}))


def result(metrics: Metrics, name: str) -> float | None:
    return value(metrics, "controller_runtime_reconcile_total", {"controller": "llmservice", "result": name})


def a_body(name: str = "chat", ready: str = "True", version: int = 1) -> Manifest:
    return {
        "apiVersion": "llmservice.dev/v1alpha1",
        "kind": "LLMService",
        "metadata": {"namespace": "ml", "name": name, "uid": name, "resourceVersion": str(version)},
        "spec": {"engine": "llamacpp", "model": {"uri": "pvc://models/tiny.gguf"}},
        "status": {
            "replicas": 2,
            "desiredReplicas": 3,
            "readyReplicas": 1,
            "plan": {"accelerator": "L4"},
            "conditions": [{"type": "Ready", "status": ready, "reason": "Loading", "message": "a user's words"}],
        },
    }


async def passing(_: ServiceKey) -> float | None:
    return None


async def looking_again(_: ServiceKey) -> float | None:
    return 20.0


@pytest.mark.parametrize(("reconcile", "name"), [(passing, "success"), (looking_again, "requeue_after")])
async def test_a_pass_is_counted_by_its_result(reconcile: object, name: str) -> None:
    metrics = Metrics()
    await Measured(reconcile, metrics)(KEY)  # type: ignore[arg-type]
    assert result(metrics, name) == 1
    assert value(metrics, "controller_runtime_reconcile_time_seconds_count", {"controller": "llmservice"}) == 1
    assert value(metrics, "controller_runtime_active_workers", {"controller": "llmservice"}) == 0


@pytest.mark.parametrize(
    ("error", "name", "errors", "panics"),
    [
        (Conflict("Conflict", "changed"), "requeue", 0, 0),
        (Unavailable("Unavailable", "busy"), "error", 1, 0),
        (ZeroDivisionError(), "error", 1, 1),
    ],
)
async def test_a_failed_pass_is_counted_by_its_kind(error: Exception, name: str, errors: int, panics: int) -> None:
    async def failing(_: ServiceKey) -> float | None:
        raise error

    metrics = Metrics()
    with pytest.raises(type(error)):
        await Measured(failing, metrics)(KEY)
    assert result(metrics, name) == 1
    assert value(metrics, "controller_runtime_reconcile_errors_total", {"controller": "llmservice"}) == errors
    assert value(metrics, "controller_runtime_reconcile_panics_total", {"controller": "llmservice"}) == panics


async def test_the_queue_tells_how_long_keys_wait_and_take() -> None:
    metrics, now = Metrics(), [0.0]
    queue = MeasuredQueue(metrics, clock=lambda: now[0])
    queue.add(KEY)
    queue.add(KEY)
    assert value(metrics, "workqueue_depth", QUEUE) == 1
    now[0] = 2.0
    key = await queue.take()
    now[0] = 5.0
    assert value(metrics, "workqueue_unfinished_work_seconds", QUEUE) == 3.0
    assert value(metrics, "workqueue_longest_running_processor_seconds", QUEUE) == 3.0
    queue.done(key)
    assert value(metrics, "workqueue_adds_total", QUEUE) == 1
    assert value(metrics, "workqueue_queue_duration_seconds_sum", QUEUE) == 2.0
    assert value(metrics, "workqueue_work_duration_seconds_sum", QUEUE) == 3.0
    assert value(metrics, "workqueue_unfinished_work_seconds", QUEUE) == 0.0


async def test_a_key_that_came_while_it_was_worked_on_waits_from_then_on() -> None:
    metrics, now = Metrics(), [0.0]
    queue = MeasuredQueue(metrics, clock=lambda: now[0])
    queue.add(KEY)
    key = await queue.take()
    queue.add(KEY)
    now[0] = 4.0
    queue.done(key)
    assert await queue.take() == KEY
    assert value(metrics, "workqueue_queue_duration_seconds_sum", QUEUE) == 0.0
    assert value(metrics, "workqueue_adds_total", QUEUE) == 2


async def test_a_retry_is_counted() -> None:
    metrics = Metrics()
    queue = MeasuredQueue(metrics)
    queue.retry(KEY)
    queue.forget(KEY)
    assert value(metrics, "workqueue_retries_total", QUEUE) == 1


async def test_requests_are_counted_by_code_and_method() -> None:
    metrics = Metrics()
    async with serving(FakeApiServer(calls=[answer(200), answer(404)])) as connection:
        count_requests(connection.session, metrics)
        await connection.call("GET", "/a")
        with pytest.raises(Exception, match="404"):
            await connection.call("GET", "/b")
    host = connection.credentials.server.removeprefix("http://")
    assert requests(metrics, "200", host) == requests(metrics, "404", host) == 1


async def test_a_request_without_an_answer_is_counted_as_error() -> None:
    metrics = Metrics()
    async with serving(FakeApiServer(calls=[answer(200)])) as connection:
        count_requests(connection.session, metrics)
        connection.credentials.server = "http://127.0.0.1:1"
        with pytest.raises(Unavailable):
            await connection.call("GET", "/a")
    assert requests(metrics, "<error>", "127.0.0.1:1") == 1


def test_the_figures_of_a_resource_follow_its_status() -> None:
    metrics, series = Metrics(), ServiceSeries()
    metrics.registry.register(series)
    series.observe(None, a_body())
    series.observe(a_body(), a_body(ready="False"))
    chat = {"namespace": "ml", "name": "chat"}
    assert value(metrics, "llmservice_replicas", {**chat, "kind": "desired"}) == 3
    assert value(metrics, "llmservice_replicas", {**chat, "kind": "ready"}) == 1
    assert value(metrics, "llmservice_condition", {**chat, "type": "Ready", "status": "False"}) == 1
    assert value(metrics, "llmservice_condition", {**chat, "type": "Ready", "status": "True"}) is None
    about = {"engine": "llamacpp", "model": "pvc://models/tiny.gguf", "accelerator": "L4"}
    assert value(metrics, "llmservice_info", {**chat, **about}) == 1


@pytest.mark.parametrize(
    ("status", "reason", "failing"),
    [("True", "Downloaded", 0), ("False", "Downloading", 0), ("False", "DownloadFailed", 1), ("False", "DiskFull", 1)],
)
def test_a_download_that_fails_is_told_apart_from_one_that_goes_on(status: str, reason: str, failing: int) -> None:
    metrics, series, body = Metrics(), ServiceSeries(), a_body()
    metrics.registry.register(series)
    series.observe(None, body)
    chat = {"namespace": "ml", "name": "chat"}
    assert value(metrics, "llmservice_download_failing", chat) is None
    weights = {"type": "WeightsReady", "status": status, "reason": reason}
    series.observe(body, {**body, "status": {**body["status"], "conditions": [weights]}})
    assert value(metrics, "llmservice_download_failing", chat) == failing


def test_a_new_resource_without_status_has_info_only() -> None:
    metrics, series = Metrics(), ServiceSeries()
    metrics.registry.register(series)
    series.observe(None, {**a_body(), "status": None})
    assert text_of(metrics, "llmservice_").count('name="chat"') == 1


def test_no_series_outlives_its_resource() -> None:
    """A thousand resources come, change and go, by the cache as in the operator."""
    metrics, series, cache = Metrics(), ServiceSeries(), ObjectCache()
    metrics.registry.register(series)
    cache.listen(series.observe)
    before = text_of(metrics, "llmservice_")
    for number in range(1000):
        cache.put(a_body(f"chat-{number}", version=2 * number + 1))
        cache.put(a_body(f"chat-{number}", ready="False", version=2 * number + 2))
    assert text_of(metrics, "llmservice_").count("\n") > 4000
    for number in range(1000):
        cache.drop(Ref("LLMService", "ml", f"chat-{number}"), 10_000)
    assert text_of(metrics, "llmservice_") == before


def test_words_of_users_are_in_no_label_but_the_model() -> None:
    metrics, series = Metrics(), ServiceSeries()
    metrics.registry.register(series)
    series.observe(None, a_body())
    assert "a user's words" not in text_of(metrics, "")


def test_other_kinds_have_no_series() -> None:
    series = ServiceSeries()
    series.observe(None, {**a_body(), "kind": "Pod"})
    assert [sample for family in series.collect() for sample in family.samples] == []


class Follower:
    restarts = 2
    watching = True

    def is_leader(self) -> bool:
        return False


async def test_watches_loop_and_leadership_have_figures() -> None:
    async with serving(FakeApiServer()) as connection:
        informers = (an_informer(connection, "a"), an_informer(connection, "b"))
    metrics = Metrics()
    follower = Follower()
    metrics.registry.register(
        ProcessSeries(informers=informers, kopf=follower, loop=LoopPulse(), lease="l", leadership=follower)
    )
    informers[0].restarts["closed"] += 1
    informers[1].restarts["closed"] += 2
    restarts = "llmservice_watch_restarts_total"
    assert value(metrics, restarts, {"resource": "Pod", "cause": "closed"}) == 3
    assert value(metrics, restarts, {"resource": "LLMService", "cause": "kopf"}) == 2
    assert value(metrics, "leader_election_master_status", {"name": "l"}) == 0
    heard = value(metrics, "llmservice_watch_last_event_timestamp_seconds", {"resource": "Pod"})
    assert heard is not None
    assert heard > 1_700_000_000


def test_the_build_says_its_version() -> None:
    text = text_of(Metrics(), "llmservice_build_info")
    assert f'version="{__version__}"' in text


def an_informer(connection: Connection, namespace: str) -> Informer:
    return Informer(connection=connection, cache=ObjectCache(), selection=Selection(kind="Pod", namespace=namespace))


def requests(metrics: Metrics, code: str, host: str) -> float | None:
    return value(metrics, "rest_client_requests_total", {"code": code, "method": "GET", "host": host})


def text_of(metrics: Metrics, prefix: str) -> str:
    lines = generate_latest(metrics.registry).decode().splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith(prefix))


def test_events_that_are_not_written_are_counted() -> None:
    metrics = Metrics()
    limiter = EventRateLimiter(dropped=metrics.events_dropped.inc)
    event = {"involvedObject": {"namespace": "ml", "uid": "u-1"}}
    assert value(metrics, "llmservice_events_dropped_total") == 0
    assert sum(limiter.allows(event) for _ in range(30)) == 25
    assert value(metrics, "llmservice_events_dropped_total") == 5


def test_a_start_is_counted_by_phase_and_engine_and_only_for_engines_that_there_are() -> None:
    metrics = Metrics()
    metrics.observe_start("vllm", {"scheduled": 2, "warm-up": 9})
    metrics.observe_start("a stranger's words", {"scheduled": 5})
    name = "llmservice_startup_phase_seconds"
    found = {
        phase: value(metrics, f"{name}_sum", {"engine": "vllm", "phase": phase}) for phase in ("scheduled", "warm-up")
    }
    assert found == {"scheduled": 2, "warm-up": 9}
    assert b"stranger" not in generate_latest(metrics.registry)


def test_devices_are_counted_by_kind_and_the_reason_of_ready_is_one_of_ours() -> None:
    metrics, series, body = Metrics(), ServiceSeries(), a_body(ready="False")
    metrics.registry.register(series)
    plan = {"accelerator": "L4", "devices": 2, "resourceName": "nvidia.com/gpu"}
    series.observe(None, {**body, "status": {**body["status"], "plan": plan}})
    chat = {"namespace": "ml", "name": "chat"}
    of_type = {**chat, "accelerator": "L4", "resource": "nvidia.com/gpu"}
    counted = [
        value(metrics, "llmservice_devices", {**of_type, "kind": kind}) for kind in ("desired", "current", "ready")
    ]
    assert counted == [6, 4, 2]
    assert value(metrics, "llmservice_ready_reason", {**chat, "status": "False", "reason": "Loading"}) == 1


def test_a_replica_on_the_cpu_has_no_devices() -> None:
    metrics, series = Metrics(), ServiceSeries()
    metrics.registry.register(series)
    series.observe(None, a_body())
    assert "llmservice_devices{" not in text_of(metrics, "llmservice_")


def test_a_reason_that_no_operator_writes_makes_no_series_of_its_own() -> None:
    metrics, series, body = Metrics(), ServiceSeries(), a_body()
    metrics.registry.register(series)
    condition = {"type": "Ready", "status": "False", "reason": "Invented1234"}
    series.observe(None, {**body, "status": {**body["status"], "conditions": [condition]}})
    labels = {"namespace": "ml", "name": "chat", "status": "False", "reason": "Other"}
    assert value(metrics, "llmservice_ready_reason", labels) == 1
