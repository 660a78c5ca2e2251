"""What the load generator wrote of each request, as values: lines that are none of ours are passed over and counted."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.untrusted.texts import printable

_LONGEST_LINE = 4 * 2**20
_LONGEST_ERROR = 200
_MOST_GAPS = 200_000
_NOTHING_TO_READ = "No responses with actual content"
"""AIPerf 0.13.0 (record_models.py) of an answer whose tokens are all special ones, or that ended at once."""
NO_TEXT = "no text in the answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One request. Times in seconds: `at` since 1970 when it was sent, the others since then.

    `first` is the time to the first token, `seconds` to the last; `gaps` the times between what was streamed, which is
    a token each with most engines. `late` is how long after its time the generator sent it. An `error` makes all
    figures but `at` and `seconds` meaningless.
    """

    phase: int
    conversation: str = ""
    turn: int = 0
    at: float
    seconds: float
    first: float = 0.0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    gaps: tuple[float, ...] = ()
    late: float = 0.0
    error: str = ""

    @property
    def per_token(self) -> float:
        """Mean seconds per token after the first; 0 for a single one."""
        return (self.seconds - self.first) / max(1, self.answer_tokens - 1)


def records_of(lines: Iterable[str]) -> tuple[list[Record], int]:
    """The records, in the order in which requests ended, and how many lines could not be read."""
    made, unread = list[Record](), 0
    for line in lines:
        record = _record(line) if len(line) <= _LONGEST_LINE else None
        if record is None:
            unread += 1
        else:
            made.append(record)
    return made, unread


def _record(line: str) -> Record | None:
    try:
        content = json.loads(line)
        return _measured(content["metadata"], content.get("metrics") or {}, content.get("error"))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _measured(metadata: Mapping[str, Any], metrics: Mapping[str, Any], error: Any) -> Record:
    sent, ended = _number(metadata["request_start_ns"]) / 1e9, _number(metadata["request_end_ns"]) / 1e9
    name = str(metadata["conversation_id"])
    facts: dict[str, Any] = {
        "phase": int(name.partition("-")[0]),
        "conversation": name[:40],
        "turn": int(metadata.get("turn_index") or 0),
        "at": sent,
        "late": max(0.0, sent - _number(metadata.get("credit_issued_ns") or metadata["request_start_ns"]) / 1e9),
    }
    answer = int(_value(metrics, "output_sequence_length") or 0)
    if error or metadata.get("was_cancelled") or not answer or "time_to_first_token" not in metrics:
        return Record(**facts, seconds=max(0.0, ended - sent), error=_error(error, metadata))
    return Record(
        **facts,
        seconds=_value(metrics, "request_latency") / 1e3,
        first=_value(metrics, "time_to_first_token") / 1e3,
        prompt_tokens=int(_value(metrics, "input_sequence_length") or 0),
        answer_tokens=answer,
        gaps=tuple(_number(gap) / 1e3 for gap in (_listed(metrics, "inter_chunk_latency"))[:_MOST_GAPS]),
    )


def _error(error: Any, metadata: Mapping[str, Any]) -> str:
    """In one line: the status of HTTP and the kind, or what the answer lacked."""
    if isinstance(error, Mapping):
        if _NOTHING_TO_READ in str(error.get("message")):
            return NO_TEXT
        parts = (error.get("code"), error.get("type"), error.get("message"))
        return cut_error(" ".join(str(part) for part in parts if part)) or "failed"
    if metadata.get("was_cancelled"):
        return "cancelled"
    return NO_TEXT


def cut_error(text: str) -> str:
    """A server's words in one short line that cannot steer a terminal."""
    return " ".join(printable(text[: 4 * _LONGEST_ERROR]).split())[:_LONGEST_ERROR]


def _value(metrics: Mapping[str, Any], name: str) -> float:
    return _number((metrics.get(name) or {"value": 0})["value"])


def _listed(metrics: Mapping[str, Any], name: str) -> list[Any]:
    value = (metrics.get(name) or {}).get("value")
    return value if isinstance(value, list) else []


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(value)
    return value
