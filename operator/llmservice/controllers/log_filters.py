"""Filters for lines that would fill the log: kopf's retries, and a process without free file descriptors."""

import errno
import logging
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

KOPF_REQUESTS = "kopf._cogs.clients.watching"
"""The logger on which kopf 1.45 tells each attempt of a list or watch: failures as errors, successes for debugging."""

_ATTEMPT = "Request attempt "
_FORGOTTEN_SECONDS = 60.0
_EXHAUSTED = {errno.EMFILE, errno.ENFILE}
_EXHAUSTED_WORDS = ("Too many open files", "out of system resource")
_EXHAUSTED_AGAIN_SECONDS = 60.0
_LONGEST_CHAIN = 10

Clock = Callable[[], float]


@dataclass(slots=True)
class OncePerFailure:
    """A filter for kopf's requests: a failure is logged once until it changes, and once more when it is over.

    One that did not occur for a minute is logged again. Belongs to kopf's thread.
    """

    clock: Clock = time.monotonic
    _told: dict[str, tuple[str, float]] = field(default_factory=dict)

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record, which may be reworded."""
        message = record.getMessage()
        if not message.startswith(_ATTEMPT):
            return record.levelno >= logging.WARNING
        what, _, reason = message.partition(" -> ")
        target = what.rpartition(": ")[2].partition("?")[0]
        return self._failed(record, target, reason) if record.levelno >= logging.WARNING else self._over(record, target)

    def _failed(self, record: logging.LogRecord, target: str, reason: str) -> bool:
        before, at = self._told.get(target, ("", 0.0))
        self._told[target] = reason, self.clock()
        if before == reason and self.clock() - at < _FORGOTTEN_SECONDS:
            return False
        record.msg, record.args = f"{target}: {reason or 'failed'}; tried again until it works, and told once", None
        return True

    def _over(self, record: logging.LogRecord, target: str) -> bool:
        if self._told.pop(target, None) is None:
            return False
        record.levelno, record.levelname = logging.INFO, "INFO"
        record.msg, record.args = f"{target}: works again", None
        return True


@dataclass(slots=True)
class OneLineWhenExhausted:
    """A filter for a handler: "too many open files" is one line without a traceback, at most once a minute.

    The caller tries again anyway; asyncio, aiohttp and others log each try with a traceback.
    """

    clock: Clock = time.monotonic
    _told_at: float | None = None
    _untold: int = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record, which may be reworded."""
        if not _is_about_exhaustion(record):
            return True
        now = self.clock()
        if self._told_at is not None and now - self._told_at < _EXHAUSTED_AGAIN_SECONDS:
            self._untold += 1
            return False
        more = f" ({self._untold} more since the last line)" if self._untold else ""
        self._told_at, self._untold = now, 0
        record.msg, record.args, record.exc_info, record.exc_text = _exhausted() + more, None, None, None
        return True


def _exhausted() -> str:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        f"no file descriptor is left of the {limit} this process may open: connections fail and are tried again; "
        "raise the limit (ulimit -n, LimitNOFILE of the container runtime) to at least 1024"
    )


def _is_about_exhaustion(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    if any(isinstance(link, OSError) and link.errno in _EXHAUSTED for link in _chain(error)):
        return True
    return record.levelno >= logging.WARNING and any(words in record.getMessage() for words in _EXHAUSTED_WORDS)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and what it came from."""
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__
