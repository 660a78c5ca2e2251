"""Logs of the process, to standard error: one line per fact, as text or JSON, and never a secret.

While a worker looks at an LLMService, each line names it, its generation and the pass.
"""

import logging
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import token_hex
from typing import Literal

import orjson

from llmservice.controllers.log_filters import KOPF_REQUESTS, OncePerFailure, OneLineWhenExhausted
from llmservice.converging.redaction import redacted
from llmservice.reconcilers.workers import Reconcile, ServiceKey

LogFormat = Literal["text", "json"]

_LONGEST_RECORD = 32_768
"""Characters of a message, and of a traceback: a defect is told whole."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass of a worker. `generation` is 0 when the resource is not known."""

    namespace: str
    name: str
    generation: int
    reconcile_id: str


_pass: ContextVar[Pass | None] = ContextVar("pass", default=None)

_QUIET = {
    "kopf.objects": logging.WARNING,
    "kopf.activities": logging.WARNING,
    "kopf._core": logging.WARNING,
    # They tell what ended kopf twice, with tracebacks, as if it were a defect; our supervision tells it in one line.
    "kopf._core.reactor.orchestration": logging.CRITICAL,
    "kopf._core.reactor.running": logging.CRITICAL,
    "kopf._cogs": logging.WARNING,
    "asyncio": logging.WARNING,
    "aiohttp": logging.WARNING,
}


def set_up_logs(level: str, log_format: LogFormat = "text") -> None:
    """Log everything from this level on; of kopf and aiohttp only warnings."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonFormatter() if log_format == "json" else _TextFormatter())
    handler.addFilter(OneLineWhenExhausted())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(max(least, logging.getLevelName(level.upper())))
    requests = logging.getLogger(KOPF_REQUESTS)
    requests.setLevel(logging.DEBUG)  # its successes are told there: the filter needs them, and tells one at most
    requests.filters[:] = [OncePerFailure()]


@dataclass(frozen=True, slots=True)
class Logged:
    """A reconciler whose log lines name the resource. `generation_of` is called at the beginning of each pass."""

    reconcile: Reconcile
    generation_of: Callable[[ServiceKey], int]

    async def __call__(self, key: ServiceKey) -> float | None:
        """One pass. The worker's own line about its end belongs to it, so nothing is reset here."""
        _pass.set(Pass(*key, self.generation_of(key), token_hex(4)))
        return await self.reconcile(key)


class _TextFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        line = redacted(super().format(record), _LONGEST_RECORD)
        looked_at = _pass.get()
        if looked_at is None:
            return line
        first, *rest = line.split("\n", 1)
        about = f" [{looked_at.namespace}/{looked_at.name}@{looked_at.generation} {looked_at.reconcile_id}]"
        return "\n".join([first + about, *rest])


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": redacted(record.getMessage(), _LONGEST_RECORD),
        }
        if (looked_at := _pass.get()) is not None:
            line |= {
                "controller": "llmservice",
                "namespace": looked_at.namespace,
                "name": looked_at.name,
                "generation": looked_at.generation,
                "reconcileID": looked_at.reconcile_id,
            }
        if record.exc_info:
            line["error"] = redacted(self.formatException(record.exc_info), _LONGEST_RECORD)
        return orjson.dumps(line, default=str).decode()
