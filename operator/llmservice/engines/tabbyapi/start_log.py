"""What TabbyAPI says at its start (backends/exllamav3/model.py, the same at 0158fb48 and e632af41).

It runs on NVIDIA's devices alone and ends on others, so that a model that was loaded is on devices. How many there are
it does not say.
"""

from llmservice.engines.start_report import StartReport, whole_in
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.untrusted.patterns import compiled, finder

_LOADED = compiled(r"Model successfully loaded\.")
_LOADED_AT = finder(r"Model successfully loaded\.")
_CACHE_SIZE = compiled(r"Using configured cache_size: (?P<tokens>[0-9]{1,12}) tokens")
_LENGTH = compiled(r"Using configured max_seq_len: (?P<tokens>[0-9]{1,12}) tokens")


def start_report(text: str) -> StartReport:
    """What the beginning of the log says."""
    tokens, length = whole_in(_CACHE_SIZE.first(text), "tokens"), whole_in(_LENGTH.first(text), "tokens")
    return StartReport(
        backend="cuda" if _LOADED.is_in(text) else None,
        kv_tokens=tokens,
        full_length_requests=tokens / length if tokens and length else None,
        request_tokens=length,
    )


def start_times(log: TimedLog) -> StartTimes:
    """What the beginning of the log says of the parts of the start."""
    return StartTimes(loaded_at=log.last(_LOADED_AT))
