#!/usr/bin/env python3
"""A stand-in for `aiperf profile --config FILE`: it answers each request at once, and writes what AIPerf would.

A fake: the real one is run in `tests/bench`. Answers of 13 tokens fail, one of 17 waits for an interrupt.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

FAILING, WAITING = 13, 17


def main() -> int:
    """Exit code as AIPerf's."""
    settings = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))["benchmark"]
    if settings["model"] == "broken":
        sys.stderr.write("12:00:00.000 ERROR    the dataset could not be read\n")
        return 1
    if "api_key" in settings["endpoint"] and not os.environ["LLMSERVICE_BENCH_KEY"]:
        return 2
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    folder = Path(settings["artifacts"]["dir"])
    folder.mkdir()
    lines = Path(settings["dataset"]["path"]).read_text(encoding="utf-8").splitlines()
    with (folder / "profile_export.jsonl").open("w", encoding="utf-8") as file:
        for place, line in enumerate(map(json.loads, lines)):
            file.write(json.dumps(record(line, place)) + "\n")
            file.flush()
            while line["output_length"] == WAITING and place == len(lines) // 2 - 1:
                time.sleep(0.05)
    if all(json.loads(line)["output_length"] == FAILING for line in lines):
        sys.stderr.write(f"12:00:01.000 ERROR    All {len(lines)} inference request(s) failed\n")
        return 1  # as AIPerf 0.13.0 does
    return 0


def record(line: dict[str, Any], place: int) -> dict[str, Any]:
    """A request that began with its number in tenths of a second, and took one."""
    start = 1_000_000_000_000 + place * 100_000_000
    failed = line["output_length"] == FAILING
    metrics = {
        "output_sequence_length": line["output_length"],
        "input_sequence_length": len(line["messages"][0]["content"].split()),
        "time_to_first_token": 40.0,
        "request_latency": 100.0,
    }
    return {
        "metadata": {
            "conversation_id": line["session_id"],
            "turn_index": 0,
            "request_start_ns": start,
            "request_end_ns": start + 100_000_000,
        },
        "metrics": {} if failed else {name: {"value": value} for name, value in metrics.items()},
        "error": {"code": 503, "type": "Busy", "message": "later"} if failed else None,
    }


if __name__ == "__main__":
    sys.exit(main())
