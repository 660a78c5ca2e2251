"""LMDeploy: arguments, environment and stopping, as its released packages have them."""

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.loader import load_catalogue
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.engines.arguments import check_arguments
from llmservice.engines.command_line import uses_in
from llmservice.engines.engine import LOOPBACK, PROXIED_PORT, ModelSource
from llmservice.engines.lmdeploy.engine import ENGINE as LMDEPLOY
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import timed_log
from llmservice.errors import InvalidSpec
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from tests.unit.engines.hub_request import a_request, a_version, option
from tests.unit.signals.fake_engine import recorded

ROWS = load_catalogue().engines["lmdeploy"]
VERSIONS = sorted(ROWS.versions)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kv_cache_dtype", ["int8", "fp8"])
def test_everything_it_renders_is_read_by_the_recorded_parser(version: str, kv_cache_dtype: str) -> None:
    request = a_request(
        a_version("lmdeploy", version),
        model=ModelSource(scheme="hf", repository="owner/model", revision="v1"),
        devices=2,
        dtype="bfloat16",
        kv_cache_dtype=kv_cache_dtype,
        trust_remote_code=True,
    )
    model, *args = LMDEPLOY.launch(request).args
    uses = uses_in(args, ROWS.recordings[version].options, LMDEPLOY.capabilities.syntax)
    assert [use.name for use in uses if not use.fits] == []
    assert {"--revision", "--dtype", "--quant-policy", "--trust-remote-code"} <= {use.name for use in uses}
    assert model == "owner/model"


def test_every_version_runs_a_models_code_only_when_it_is_asked_to() -> None:
    assert [version for version, row in ROWS.versions.items() if not row.knows("--trust-remote-code")] == []
    assert "--trust-remote-code" not in LMDEPLOY.launch(a_request(a_version("lmdeploy"))).args


def test_listens_where_it_is_told_to() -> None:
    launch = LMDEPLOY.launch(a_request(a_version("lmdeploy"), host=LOOPBACK, port=PROXIED_PORT))
    assert (option(launch, "--server-name"), option(launch, "--server-port")) == (LOOPBACK, str(PROXIED_PORT))
    assert launch.command == ("lmdeploy", "serve", "api_server")


@pytest.mark.parametrize(("devices", "tp"), [(0, None), (1, "1"), (2, "2"), (8, "8")])
def test_spreads_over_the_devices_of_the_replica(devices: int, tp: str | None) -> None:
    assert option(LMDEPLOY.launch(a_request(a_version("lmdeploy"), devices=devices)), "--tp") == tp


@pytest.mark.parametrize("devices", [3, 5, 6, 12])
def test_a_number_of_devices_that_is_no_power_of_two_is_refused(devices: int) -> None:
    with pytest.raises(InvalidSpec, match=rf"spec\.gpu\.count: .*{devices}") as caught:
        LMDEPLOY.launch(a_request(a_version("lmdeploy"), devices=devices))
    assert caught.value.reason is Reason.NOT_DIVISIBLE


@pytest.mark.parametrize(
    ("asked", "policy", "backend"),
    [
        ("", None, None),
        ("auto", None, None),
        ("int4", "4", None),
        ("int8", "8", None),
        ("fp8", "16", "pytorch"),
        ("fp8_e5m2", "17", "pytorch"),
    ],
)
def test_the_kv_cache_in_fewer_bits_takes_the_engine_that_has_it(
    asked: str, policy: str | None, backend: str | None
) -> None:
    launch = LMDEPLOY.launch(a_request(a_version("lmdeploy"), kv_cache_dtype=asked))
    assert (option(launch, "--quant-policy"), option(launch, "--backend")) == (policy, backend)


@pytest.mark.parametrize(("field", "value"), [("dtype", "float32"), ("kv_cache_dtype", "q8_0")])
def test_a_number_format_that_it_has_not_is_refused(field: str, value: str) -> None:
    name = {"dtype": "spec.dtype", "kv_cache_dtype": "spec.kvCacheDtype"}[field]
    with pytest.raises(InvalidSpec, match=f"{name}: "):
        LMDEPLOY.launch(a_request(a_version("lmdeploy"), **{field: value}))


def test_a_second_name_is_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.model\.names: "):
        LMDEPLOY.launch(a_request(a_version("lmdeploy"), names=("chat", "other")))


def test_the_limit_that_would_hold_up_the_probes_is_never_set() -> None:
    assert option(LMDEPLOY.launch(a_request(a_version("lmdeploy"))), "--max-concurrent-requests") is None
    with pytest.raises(InvalidSpec, match=r"spec\.maxNumSeqs"):
        check_arguments(LMDEPLOY, a_version("lmdeploy"), ["--max-concurrent-requests=64"], [])


@pytest.mark.parametrize("drain", [0, 300])
def test_the_server_waits_for_its_answers_and_is_given_the_time(drain: int) -> None:
    launch = LMDEPLOY.launch(a_request(a_version("lmdeploy"), drain_seconds=drain))
    assert launch.stop_seconds > drain
    assert (launch.pre_stop_seconds, launch.needs_init) == (5, True)


def test_its_page_gives_both_laws_what_they_need() -> None:
    names = LMDEPLOY.metric_names(a_version("lmdeploy"))
    found = reading_from(scan(recorded("lmdeploy"), wanted(names)), names, 1.0)
    assert isinstance(found, Reading)
    counters = found.counters
    assert (counters.running, found.kv_use, counters.finished, counters.steps) == (4, 0.625, 41, 410)
    assert counters.waiting == 1 + 2, "in the engine, and before it for a handle"
    assert (counters.prompt_tokens, counters.generated_tokens) == (4100, 1517)
    assert counters.ttft is not None
    assert counters.inter_token_latency is not None
    assert counters.ttft.above(2.5) == 1
    assert counters.inter_token_latency.total / counters.inter_token_latency.count == pytest.approx(0.01)


def test_half_of_a_sum_is_no_number() -> None:
    names = LMDEPLOY.metric_names(a_version("lmdeploy"))
    page = recorded("lmdeploy").replace(b"num_api_requests_waiting", b"num_others_waiting")
    found = reading_from(scan(page, wanted(names)), names, 1.0)
    assert isinstance(found, ReadFailure)
    assert found.reason is ReadFailureReason.SIGNAL_MISSING


def test_a_start_says_only_which_length_fits() -> None:
    log = "[TM][WARNING] `session_len` truncated to 258368 due to limited KV cache memory\n"
    assert LMDEPLOY.start_report(log) == StartReport(
        kv_tokens=258_368, full_length_requests=1.0, request_tokens=258_368
    )


def test_weights_are_loaded_when_it_says_where_it_is() -> None:
    log = (
        "2026-11-01T10:00:00Z 2026-11-01 10:00:00,1 - lmdeploy - WARNING - archs.py:38 - Fallback to pytorch engine\n"
        "2026-11-01T10:00:41Z HINT:    Please open \x1b[93m\x1b[1mhttp://0.0.0.0:8000\x1b[0m in a browser\n"
    )
    assert LMDEPLOY.start_times(timed_log(log)) == StartTimes(loaded_at=1793527241.0)
