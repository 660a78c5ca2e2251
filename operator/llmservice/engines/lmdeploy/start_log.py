"""What LMDeploy says at its start: at its usual level of warnings nearly nothing.

TurboMind's "`session_len` truncated to … due to limited KV cache memory" (a string of its library) is the length of a
request that fits, of which one has room at a time. Neither the devices nor the size of the cache are told. `HINT:
Please open http://…` (serve/openai/api_server.py) comes when the engine is made: weights are loaded, and what it tries
out is done.
"""

from llmservice.engines.start_report import StartReport, whole_in
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled, finder

_TRUNCATED = compiled(r"`session_len` truncated to (?P<tokens>[0-9]{1,12}) due to limited KV cache memory")
_MADE = finder(r"HINT:    Please open ")


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    tokens = whole_in(_TRUNCATED.first(text), "tokens")
    if tokens is None:
        return StartReport()
    return StartReport(kv_tokens=tokens, full_length_requests=1.0, request_tokens=tokens)


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start: the last moment at which weights were loaded."""
    return StartTimes(loaded_at=log.last(_MADE))
