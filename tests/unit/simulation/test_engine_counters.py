"""What a simulated engine exports."""

from llmservice.simulation.engine_counters import FIRST_TOKEN_BOUNDS, OUTPUT_TOKEN_BOUNDS, EngineCounters


def test_histograms_are_cumulative() -> None:
    counters = EngineCounters()
    for seconds in (0.0005, 0.3, 2.5, 4000.0):
        counters.ttft.observe(seconds)
    histogram = counters.reading(1.0, running=0, waiting=0).ttft
    assert histogram is not None
    assert (histogram.count, histogram.counts[0], histogram.counts[-1]) == (4, 1, 3)
    assert histogram.above(2.5) == 1.0


def test_a_scrape_does_not_change_later() -> None:
    counters = EngineCounters()
    before = counters.reading(1.0, running=0, waiting=0)
    counters.finished += 1
    counters.tpot.observe(0.2)
    assert before.finished == 0
    assert before.tpot is not None
    assert before.tpot.count == 0


def test_bounds_rise() -> None:
    assert list(FIRST_TOKEN_BOUNDS) == sorted(set(FIRST_TOKEN_BOUNDS))
    assert list(OUTPUT_TOKEN_BOUNDS) == sorted(set(OUTPUT_TOKEN_BOUNDS))
