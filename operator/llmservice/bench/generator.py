"""The settings and input of AIPerf (github.com/ai-dynamo/aiperf, Apache-2.0), which sends the load.

Of the generators made for LLMs it has users with pauses, schedules and concurrency, writes each request as it ends, is
told to stop by an interrupt, and needs neither torch nor a hub. Settings: its configuration, schemaVersion 2.0; input:
its format mooncake_trace. Key and settings stand in a file and an environment, never on a command line.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llmservice.bench.load import MOST_REQUESTS, Conversation, Load
from llmservice.bench.prompts import Calibration, prompt

VERSION = "0.13.0"
"""Of AIPerf; `generator.lock` pins it with all that it needs."""

_MOST_ROUNDS = 1000

KEY_VARIABLE = "LLMSERVICE_BENCH_KEY"
"""Of its environment: the key that requests carry."""

RECORDS, REPORT = "profile_export.jsonl", "profile_export_aiperf.json"
"""In its output folder: one line per request, written as it ends, and its own figures."""

TOKENIZER = {
    "tokenizer.json": {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"},
    },
    "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "?"},
}
"""Files of a tokenizer that counts words: AIPerf loads one always, and uses none where the server counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is loaded: a base URL without `/v1`, the model to ask for, and what is sent beside the prompt."""

    url: str
    model: str
    has_key: bool = False
    extra: Mapping[str, Any]
    timeout_seconds: float = 600.0


def settings(target: Target, load: Load, run: Sequence[int], *, folder: str) -> dict[str, Any]:
    """The configuration of one run. `folder` has the input, the tokenizer's files, and gets what AIPerf writes."""
    phases = [load.phases[number] for number in run]
    requests, in_flight = sum(phase.requests for phase in phases), phases[0].in_flight
    timing: dict[str, Any] = {"type": "fixed_schedule"}
    if in_flight is not None:
        timing = {"type": "concurrency", "concurrency": in_flight, "requests": requests}
    endpoint = {
        "urls": [target.url],
        "type": "chat",
        "streaming": True,
        "timeout": target.timeout_seconds,
        # As from as many clients: a Service chooses a replica per connection, and servers close idle ones.
        "connection_reuse": "never",
        "use_server_token_count": True,
        "use_legacy_max_tokens": True,
        "extra": dict(target.extra),
    }
    if target.has_key:
        endpoint["api_key"] = f"${{{KEY_VARIABLE}}}"
    return {
        "schemaVersion": "2.0",
        "benchmark": {
            "model": target.model,
            "endpoint": endpoint,
            "tokenizer": {"name": f"{folder}/tokenizer"},
            "dataset": {
                "type": "file",
                "path": f"{folder}/input.jsonl",
                "format": "mooncake_trace",
                "sampling": "sequential",
            },
            "profiling": timing,
            "artifacts": {"dir": f"{folder}/output", "summary": ["json"], "records": ["jsonl"]},
            "runtime": {"ui": "none"},
            "gpuTelemetry": {"enabled": False},
            "serverMetrics": {"enabled": False},
        },
    }


def input_lines(load: Load, run: Sequence[int], calibration: Calibration, *, salt: int) -> Iterator[str]:
    """A line per request. A conversation is called PHASE-NUMBER, by which its records are found again.

    Another `salt` makes other prompts of the same lengths: servers keep those that they were asked before.
    """
    for number in run:
        phase = load.phases[number]
        for count, conversation in enumerate(phase.conversations):
            scheduled = phase.in_flight is None
            yield from _lines(f"{number}-{count}", conversation, calibration, salt, scheduled=scheduled)


def _lines(
    name: str, conversation: Conversation, calibration: Calibration, salt: int, *, scheduled: bool
) -> Iterator[str]:
    phase, count = map(int, name.split("-"))
    for place, turn in enumerate(conversation.turns):
        number = (phase * MOST_REQUESTS + count) * _MOST_ROUNDS + place
        text = turn.text or prompt(number, calibration.words(turn.prompt_tokens), salt=salt)
        line: dict[str, Any] = {
            "session_id": name,
            "messages": [{"role": "user", "content": text}],
            "output_length": turn.answer_tokens,
        }
        if place:
            line["delay"] = round(turn.think_seconds * 1e3)
        elif scheduled:
            line["timestamp"] = round(conversation.at * 1e3)
        yield json.dumps(line)
