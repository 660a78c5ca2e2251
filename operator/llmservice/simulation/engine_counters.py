"""The metrics a simulated replica exports: what vLLM exports, in vLLM's buckets, and nothing it could not know."""

from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

from llmservice.autoscaling.counters import Counters, Histogram

FIRST_TOKEN_BOUNDS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
"""Seconds; vllm:time_to_first_token_seconds (vllm/v1/metrics/loggers.py)."""

OUTPUT_TOKEN_BOUNDS = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
"""Seconds; vllm:request_time_per_output_token_seconds (the same file)."""


@dataclass(slots=True)
class _Observations:
    """A histogram being filled: how many fell into each bucket, the last one open."""

    bounds: tuple[float, ...]
    buckets: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.buckets = [0] * (len(self.bounds) + 1)

    def observe(self, value: float) -> None:
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.total += value

    def reading(self) -> Histogram:
        cumulative = tuple(accumulate(self.buckets))
        return Histogram(count=cumulative[-1], total=self.total, bounds=self.bounds, counts=cumulative[:-1])


@dataclass(slots=True)
class EngineCounters:
    """Counters of one replica since its start. The simulation adds to them; `reading` is a scrape."""

    prompt_tokens: int = 0
    generated_tokens: int = 0
    finished: int = 0
    finished_prompt_tokens: int = 0
    finished_generated_tokens: int = 0
    preemptions: int = 0
    inter_token_count: int = 0
    inter_token_seconds: float = 0.0
    ttft: _Observations = field(default_factory=lambda: _Observations(FIRST_TOKEN_BOUNDS))
    tpot: _Observations = field(default_factory=lambda: _Observations(OUTPUT_TOKEN_BOUNDS))

    def reading(self, at: float, *, running: int, waiting: int) -> Counters:
        """What a scrape at this moment (seconds) would find."""
        return Counters(
            at=at,
            running=running,
            waiting=waiting,
            prompt_tokens=self.prompt_tokens,
            generated_tokens=self.generated_tokens,
            finished=self.finished,
            finished_prompt_tokens=self.finished_prompt_tokens,
            finished_generated_tokens=self.finished_generated_tokens,
            ttft=self.ttft.reading(),
            tpot=self.tpot.reading(),
            inter_token_latency=Histogram(count=self.inter_token_count, total=self.inter_token_seconds),
            preemptions=self.preemptions,
        )
