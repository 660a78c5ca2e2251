"""What each engine version exports, role by role."""

import re
from dataclasses import fields

import pytest

from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.loader import load_catalogue
from llmservice.catalog.metrics import METRIC_ROLES, Series
from llmservice.catalog.overlay import overlaid
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.proxied import metric_names_of_engine
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidCatalogue

ROWS = [row for versions in load_catalogue().engines.values() for row in versions.versions.values()]


def metric_names_of(row: EngineVersion) -> MetricNames:
    return metric_names_of_engine(ENGINES[row.engine], row)


def a_row(engine: str, **metrics: str) -> EngineVersion:
    return EngineVersion(
        engine=engine, version="ours", images={}, user=1, group=1, max_model_len=1, max_num_seqs=1, metrics=metrics
    )


def test_the_roles_of_the_catalogue_are_those_of_the_readings() -> None:
    assert [field.name for field in fields(MetricNames)] == [*METRIC_ROLES, "created_on_first_use", "substitutes"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.engine}-{row.version}")
def test_every_role_has_a_name_or_what_stands_in_for_it(row: EngineVersion) -> None:
    metric_names = metric_names_of(row)
    unsaid = {role for role in METRIC_ROLES if not metric_names.names(role) and role not in metric_names.substitutes}
    assert unsaid - {"finished_prompt_tokens", "finished_generated_tokens"} == set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.engine}-{row.version}")
def test_the_name_of_the_row_comes_before_those_of_other_versions(row: EngineVersion) -> None:
    metric_names = metric_names_of(row)
    assert {role: metric_names.names(role)[0] for role in row.metrics} == dict(row.metrics)
    assert all(Series.parse(name).name for role in METRIC_ROLES for name in metric_names.names(role))


@pytest.mark.parametrize(
    ("engine", "role", "names"),
    [
        ("vllm", "kv_use", ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")),
        ("vllm", "ttft", ()),
        ("tgi", "kv_use", ()),
        ("llamacpp", "finished", ()),
        ("llamacpp", "waiting", ("llamacpp:requests_deferred",)),
    ],
)
def test_a_row_without_metrics_has_what_every_version_has(engine: str, role: str, names: tuple[str, ...]) -> None:
    assert metric_names_of(a_row(engine)).names(role) == names


def test_a_row_of_ones_own_renames_a_metric_and_keeps_the_others() -> None:
    metric_names = metric_names_of(a_row("vllm", kv_use="acme:kv"))
    assert metric_names.kv_use == ("acme:kv", "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
    assert metric_names.running == ("vllm:num_requests_running",)


@pytest.mark.parametrize("engine", ["llamacpp", "tgi"])
def test_an_engine_without_a_kv_gauge_says_what_stands_in_for_it(engine: str) -> None:
    metric_names = metric_names_of(load_catalogue().engine_version(engine, None))
    assert metric_names.kv_use == ()
    assert "KV-cache" in metric_names.substitutes["kv_use"]


@pytest.mark.parametrize(("engine", "makes"), [("tgi", True), ("sglang", True), ("vllm", False), ("llamacpp", False)])
def test_an_engine_that_makes_series_on_first_use_says_so_in_every_version(engine: str, *, makes: bool) -> None:
    assert {bool(metric_names_of(row).created_on_first_use) for row in ROWS if row.engine == engine} == {makes}


def test_prompt_tokens_from_the_prefix_cache_are_counted_apart_or_noted() -> None:
    rows = load_catalogue().engines["vllm"].versions
    assert "prefix cache" in metric_names_of(rows["0.10.2"]).substitutes["prompt_tokens"]
    assert 'source="local_compute"' in metric_names_of(rows["0.33.0"]).prompt_tokens[0]
    assert "prompt_tokens" not in metric_names_of(rows["0.33.0"]).substitutes


@pytest.mark.parametrize(
    ("written", "series"),
    [
        ("a:b", Series(name="a:b")),
        ('a{b="c"}', Series(name="a", label="b", accepted=frozenset({"c"}))),
        ('a{b=~"c|d"}', Series(name="a", label="b", accepted=frozenset({"c", "d"}))),
        ("a[b]", Series(name="a", label="b", in_label=True)),
    ],
)
def test_reads_the_notation_of_a_series(written: str, series: Series) -> None:
    assert Series.parse(written) == series


@pytest.mark.parametrize("written", ["", "a b", "sum(a)", 'a{b="c",d="e"}', "a{b!='c'}", "a[]", "9a"])
def test_refuses_what_is_no_series(written: str) -> None:
    with pytest.raises(ValueError, match=re.escape(repr(written))):
        Series.parse(written)


@pytest.mark.parametrize(
    ("metrics", "complaint"),
    [
        ("speed: a", "vllm: ours: metrics: speed .* running, "),
        ("running: sum(a)", "metrics: running: 'sum.a.' "),
    ],
)
def test_a_row_with_a_metric_that_cannot_be_read_is_refused(metrics: str, complaint: str) -> None:
    sizes = "images: {}, user: 1, group: 1, max_model_len: 1, max_num_seqs: 1"
    with pytest.raises(InvalidCatalogue, match=complaint):
        overlaid({"engines.yaml": f"vllm: {{versions: {{ours: {{{sizes}, metrics: {{{metrics}}}}}}}}}"})
