"""Records as a bench has them: valid by default, each test changes what it is about."""

import json
from typing import Any

from llmservice.bench.records import Record


def a_record(**changes: Any) -> Record:
    """A hundred tokens in, eleven out: the first after half a second, then one every 50 ms."""
    values: dict[str, Any] = {
        "phase": 0,
        "at": 1000.0,
        "seconds": 1.0,
        "first": 0.5,
        "prompt_tokens": 100,
        "answer_tokens": 11,
        "gaps": (0.05,) * 10,
    }
    return Record(**values | changes)


def a_line(error: object = None, **metrics: object) -> str:
    """A line of AIPerf's profile_export.jsonl (0.13.0), shortened; a metric of None is left out."""
    values: dict[str, object] = {
        "output_sequence_length": 11,
        "input_sequence_length": 100,
        "time_to_first_token": 500.0,
        "request_latency": 1000.0,
        "inter_chunk_latency": [50.0] * 10,
        **metrics,
    }
    metadata = {
        "conversation_id": "2-7",
        "turn_index": 1,
        "credit_issued_ns": 1_000_000_000_000,
        "request_start_ns": 1_000_010_000_000,
        "request_end_ns": 1_001_010_000_000,
        "was_cancelled": False,
    }
    told = {name: {"value": value, "unit": "ms"} for name, value in values.items() if value is not None}
    return json.dumps({"metadata": metadata, "metrics": told, "error": error})
