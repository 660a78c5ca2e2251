"""What a page means: sums over label sets, absence, values no engine can mean, and what happened between two pages."""

import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

from llmservice.autoscaling.counters import flow_between
from llmservice.autoscaling.policy import Objective
from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason, Reading
from llmservice.engines.metric_names import MetricNames
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from tests.unit.signals.fake_engine import metric_names_of, recorded

VLLM = recorded("vllm").decode()
TGI = recorded("tgi").decode()


def read(page: str, names: MetricNames, at: float = 10.0) -> Reading | ReadFailure:
    return reading_from(scan(page.encode(), wanted(names)), names, at)


def a_reading(page: str = VLLM, engine: str = "vllm", at: float = 10.0) -> Reading:
    reading = read(page, metric_names_of(engine), at)
    assert isinstance(reading, Reading), reading
    return reading


def an_unread(page: str, engine: str = "vllm") -> ReadFailure:
    unread = read(page, metric_names_of(engine))
    assert isinstance(unread, ReadFailure), unread
    return unread


def without(page: str, *names: str) -> str:
    return "".join(line for line in page.splitlines(keepends=True) if re.split(r"[{ ]", line)[0] not in names)


def set_to(page: str, name: str, value: str) -> str:
    """The page with another value for every label set of a series."""
    return re.sub(rf"^({re.escape(name)}(?:\{{.*\}})?) .*$", rf"\1 {value}", page, flags=re.MULTILINE)


def with_a_second_engine(page: str, changes: Mapping[str, str]) -> str:
    """The page of a replica with two data-parallel engines, of which the other has these values."""
    other = page.replace('engine="0"', 'engine="1"')
    for name, value in changes.items():
        other = set_to(other, name, value)
    return page + "".join(line for line in other.splitlines(keepends=True) if 'engine="1"' in line)


def test_a_page_of_vllm_under_load() -> None:
    reading = a_reading()
    counters = reading.counters
    assert (counters.running, counters.waiting, counters.finished, counters.rejected) == (4, 3, 11, 0)
    assert (counters.prompt_tokens, counters.generated_tokens) == (1334, 4370)
    assert (counters.finished_prompt_tokens, counters.finished_generated_tokens) == (1084, 4280)
    assert reading.kv_use == pytest.approx(0.000488, abs=1e-6)
    assert (reading.slots, reading.at) == (None, 10.0)


def test_histograms_of_vllm_have_their_buckets() -> None:
    counters = a_reading().counters
    assert counters.ttft is not None
    assert counters.tpot is not None
    assert counters.inter_token_latency is not None
    assert (counters.ttft.count, counters.ttft.above(2.5), counters.ttft.bounds[-1]) == (
        15,
        3,
        2560,
    )
    assert (counters.tpot.count, counters.tpot.above(0.1)) == (11, 0)
    assert (counters.inter_token_latency.count, counters.inter_token_latency.bounds) == (4355, ())


def test_a_page_of_llamacpp_under_load() -> None:
    reading = a_reading(recorded("llamacpp").decode(), "llamacpp")
    counters = reading.counters
    assert (counters.running, counters.waiting, counters.prompt_tokens, counters.generated_tokens) == (2, 5, 9, 900)
    assert (counters.finished, counters.inter_token_latency, counters.ttft) == (None, None, None)
    assert (reading.kv_use, reading.slots) == (None, None)


def test_a_page_of_tgi_under_load() -> None:
    reading = a_reading(TGI, "tgi")
    counters = reading.counters
    assert (counters.running, counters.waiting, counters.finished, reading.kv_use) == (2, 5, 41, None)
    assert (counters.prompt_tokens, counters.generated_tokens) == (16660, 2870)
    assert counters.tpot is not None
    assert (counters.tpot.count, len(counters.tpot.bounds), counters.ttft) == (41, 35, None)


def test_what_tgi_refused_and_what_clients_gave_up_is_demand_and_what_was_wrong_is_not() -> None:
    assert a_reading(TGI, "tgi").counters.rejected == 3 + 1
    assert a_reading(without(TGI, "tgi_request_failure"), "tgi").counters.rejected == 0


def test_data_parallel_engines_add_up_and_their_caches_are_averaged() -> None:
    page = with_a_second_engine(
        VLLM, {"vllm:num_requests_running": "10", "vllm:kv_cache_usage_perc": "0.5", "vllm:num_requests_waiting": "0"}
    )
    reading = a_reading(page)
    assert (reading.counters.running, reading.counters.waiting, reading.counters.finished) == (14, 3, 22)
    assert reading.kv_use == pytest.approx(0.25, abs=0.001)
    assert reading.counters.ttft is not None
    assert (reading.counters.ttft.count, reading.counters.ttft.above(2.5)) == (30, 6)


def test_a_fresh_tgi_says_nothing_and_has_done_nothing() -> None:
    counters = a_reading("", "tgi").counters
    assert (counters.running, counters.waiting, counters.generated_tokens, counters.finished) == (0, 0, 0, 0)
    assert counters.tpot is not None
    assert counters.tpot.count == 0


def test_the_first_request_of_a_tgi_runs_before_anything_is_counted() -> None:
    page = "tgi_queue_size 0\ntgi_batch_current_size 1\ntgi_request_input_length_sum 70\n"
    counters = a_reading(page, "tgi").counters
    assert (counters.running, counters.prompt_tokens, counters.finished) == (1, 70, 0)


@pytest.mark.parametrize("name", ["tgi_queue_size", "tgi_batch_current_size", "tgi_request_success"])
def test_a_series_of_tgi_that_is_absent_after_a_request_ended_was_renamed(name: str) -> None:
    unread = an_unread(without(TGI, name), "tgi")
    assert unread.reason is ReadFailureReason.SIGNAL_MISSING
    assert name in unread.message


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("vllm:num_requests_waiting", "vllm:num_requests_waiting"),
        ("vllm:kv_cache_usage_perc", "vllm:kv_cache_usage_perc or vllm:gpu_cache_usage_perc"),
        ("vllm:request_success_total", "vllm:request_success_total"),
        ("vllm:inter_token_latency_seconds_sum", "vllm:inter_token_latency_seconds"),
        ("vllm:time_to_first_token_seconds_bucket", "vllm:time_to_first_token_seconds"),
    ],
)
def test_a_renamed_metric_is_named_with_the_way_out(name: str, said: str) -> None:
    unread = an_unread(without(VLLM, name))
    assert unread.reason is ReadFailureReason.SIGNAL_MISSING
    assert unread.message.startswith(f"{said} ")
    assert "name the version that is in the image in spec.engineOptions.version" in unread.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
    ],
)
def test_a_name_of_another_version_is_found(old: str, new: str) -> None:
    assert a_reading(VLLM.replace(old, new)) == a_reading()


def test_an_empty_page_of_an_engine_that_always_exports_is_no_zero() -> None:
    assert an_unread("").reason is ReadFailureReason.SIGNAL_MISSING
    assert an_unread("other_metric 1\n", "llamacpp").reason is ReadFailureReason.SIGNAL_MISSING


def test_an_engine_of_which_no_metric_is_known_says_where_to_name_it() -> None:
    unread = read("a 1\n", MetricNames(running=("a",)))
    assert isinstance(unread, ReadFailure)
    assert unread.message.startswith("no metric is known for waiting; or write its metric into the catalogue: ")


@pytest.mark.parametrize(
    "name", ["vllm:num_requests_running", "vllm:generation_tokens_total", "vllm:kv_cache_usage_perc"]
)
@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "-1", "1e16", "four"])
def test_a_value_no_engine_can_mean_is_named(name: str, value: str) -> None:
    unread = an_unread(set_to(VLLM, name, value))
    assert unread.reason is ReadFailureReason.IMPLAUSIBLE
    assert unread.message.startswith(f"{name} is ")
    assert "delete the pod" in unread.message


def test_one_bad_label_set_is_enough() -> None:
    page = with_a_second_engine(VLLM, {"vllm:num_requests_running": "-4"})
    assert an_unread(page).reason is ReadFailureReason.IMPLAUSIBLE


def test_a_share_over_one_is_no_share() -> None:
    unread = an_unread(set_to(VLLM, "vllm:kv_cache_usage_perc", "37.5"))
    assert unread.message.startswith("the share of the KV cache in use is 37.5, which no engine can mean")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            'vllm:time_to_first_token_seconds_bucket{engine="0",le="2.5"} 999',
            "the histogram for ttft has buckets",
        ),
        ('vllm:time_to_first_token_seconds_bucket{engine="0",le="many"} 1', 'seconds_bucket has a bucket le="many"'),
        ('vllm:time_to_first_token_seconds_bucket{engine="0"} 1', 'seconds_bucket has a bucket le=""'),
    ],
)
def test_a_histogram_that_is_none_is_named(line: str, said: str) -> None:
    unread = an_unread(f"{VLLM}{line}\n")
    assert unread.reason is ReadFailureReason.IMPLAUSIBLE
    assert said in unread.message


def test_two_pages_tell_what_happened_in_between() -> None:
    later = set_to(VLLM, "vllm:generation_tokens_total", "5370")
    flow = flow_between(a_reading(at=10.0).counters, a_reading(later, at=20.0).counters, Objective())
    assert flow is not None
    assert (flow.seconds, flow.generated_tokens, flow.arrived) == (10.0, 1000, 0)


def test_of_an_engine_that_began_again_nothing_is_known_at_first() -> None:
    again = set_to(set_to(VLLM, "vllm:generation_tokens_total", "7"), "vllm:request_success_total", "0")
    assert flow_between(a_reading(at=10.0).counters, a_reading(again, at=20.0).counters, Objective()) is None


def test_refusals_of_tgi_arrived_too() -> None:
    later = TGI.replace('{err="overloaded"} 3', '{err="overloaded"} 13')
    flow = flow_between(a_reading(TGI, "tgi", at=10.0).counters, a_reading(later, "tgi", at=20.0).counters, Objective())
    assert flow is not None
    assert flow.arrived == 10


@pytest.mark.parametrize(
    ("series", "line", "slots"),
    [
        ("acme:slots", "acme:slots 8", 8),
        ("acme:info[slots]", 'acme:info{slots="8"} 1', 8),
        ("acme:info[slots]", 'acme:info{slots="None"} 1', None),
    ],
)
def test_slots_are_read_where_an_engine_reports_them(series: str, line: str, slots: int | None) -> None:
    metric_names = replace(metric_names_of("llamacpp"), slots=(series,))
    reading = read(recorded("llamacpp").decode() + line + "\n", metric_names)
    assert isinstance(reading, Reading)
    assert reading.slots == slots
