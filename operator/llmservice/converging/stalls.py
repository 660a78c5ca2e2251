"""Whether an engine hangs: requests run, and nothing that a step of the engine moves has moved.

What moves is compared whole: tokens, steps, KV-cache use and the number of running requests. A long prompt computes no
token for minutes, but steps or KV-cache use grow with each part of it: llama.cpp counts `n_decode_total`, TGI
`tgi_batch_inference_count`, and vLLM's KV-cache use grows although its counters wait for the first token. What ends is
not compared: clients that give up end requests of an engine that hangs.
"""

from dataclasses import dataclass, replace

from llmservice.converging.pod_readings import Reading

FEWEST_READINGS = 3
"""That say the same in a row before anything follows from it."""

_LARGEST_GAP_SECONDS = 100.0
"""Between two readings: three rounds. What an engine did in a longer gap is not known, so that watching begins anew."""
_ON_PROCESSORS = 5.0
"""A step of 2,048 prompt tokens takes a processor minutes, and moves nothing until it is over."""
_BEYOND_PAUSE = 3.0
"""A pause that ended by itself was none to restart an engine for; nor is one not much longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineProgress:
    """What one pod's engine did lately. Times are those of readings, in seconds since 1970.

    `since`: no step is known after it. `readings` came since then with requests running in each. `longest_pause` ended
    by itself.
    """

    restarts: int
    signs: tuple[float | None, ...]
    running: float
    since: float
    at: float
    readings: int = 0
    longest_pause: float = 0.0

    @property
    def still_seconds(self) -> float:
        """For how long nothing has moved while requests ran."""
        return self.at - self.since


def followed(before: EngineProgress | None, reading: Reading, restarts: int) -> EngineProgress:
    """The progress after a reading of an engine that was started again so often."""
    counters, signs = reading.counters, _signs(reading)
    fresh = EngineProgress(restarts=restarts, signs=signs, running=counters.running, since=reading.at, at=reading.at)
    if before is None or before.restarts != restarts or reading.at - before.at > _LARGEST_GAP_SECONDS:
        return fresh
    if reading.at <= before.at:
        return before
    longest = before.longest_pause
    if signs != before.signs or not counters.running:
        if before.readings >= FEWEST_READINGS and counters.running:
            longest = max(longest, reading.at - before.since)
        return replace(fresh, longest_pause=longest)
    return replace(before, at=reading.at, readings=before.readings + 1)


def answered(progress: EngineProgress) -> EngineProgress:
    """The progress of an engine that has just answered a request: it does not hang, whatever its metrics say."""
    return replace(progress, since=progress.at, readings=0)


def seconds_allowed(setting: float, devices: int, longest_pause: float) -> float:
    """For how long an engine may do nothing; `setting` is what the administrator allows on devices."""
    return max(setting * (1.0 if devices else _ON_PROCESSORS), _BEYOND_PAUSE * longest_pause)


def is_suspect(progress: EngineProgress, allowed: float) -> bool:
    """Whether the engine has done nothing for longer than that, by enough readings."""
    return progress.readings >= FEWEST_READINGS and progress.still_seconds >= allowed


def _signs(reading: Reading) -> tuple[float | None, ...]:
    counters = reading.counters
    return counters.prompt_tokens, counters.generated_tokens, counters.steps, reading.kv_use, counters.running
