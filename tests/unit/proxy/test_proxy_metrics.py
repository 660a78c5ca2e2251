"""What the operator reads on the pages of both versions, recorded while two requests ran, three waited, one had ended
and one had been refused."""

from pathlib import Path

import pytest

from llmservice.converging.pod_readings import Reading
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.proxied import PROXY_METRIC_NAMES
from llmservice.errors import InvalidSpec
from llmservice.signals.exposition import scan
from llmservice.signals.samples import reading_from, wanted
from tests.unit.planning.test_scaling import scaling

PAGES = sorted((Path(__file__).parent / "expositions").iterdir())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_under_load(page: Path) -> None:
    read = reading_from(scan(page.read_bytes(), wanted(PROXY_METRIC_NAMES)), PROXY_METRIC_NAMES, at=7.0)
    assert isinstance(read, Reading), read
    counters = read.counters
    assert (counters.running, counters.waiting, counters.finished, counters.rejected) == (2.0, 3.0, 1.0, 1.0)
    assert (counters.prompt_tokens, counters.generated_tokens, read.kv_use, counters.ttft) == (0.0, 0.0, None, None)
    assert not read.shows_steps


def test_it_is_scaled_by_requests_and_not_by_what_cannot_be_read() -> None:
    assert scaling(PROXY_METRIC_NAMES).metric_names == PROXY_METRIC_NAMES
    with pytest.raises(InvalidSpec, match=r"kvCachePercent"):
        scaling(PROXY_METRIC_NAMES, policy="Threshold", targets={"kvCachePercent": 80})


def test_an_engine_of_which_nothing_can_be_read_is_not_scaled() -> None:
    for names in (MetricNames(), MetricNames(running=("running",))):
        with pytest.raises(InvalidSpec, match=r"spec\.autoscaling: .* spec\.replicas"):
            scaling(names)
