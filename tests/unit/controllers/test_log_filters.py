"""What is told over and over is told once."""

import errno
import logging
import os
import subprocess
import sys

import pytest

from llmservice.controllers.log_filters import KOPF_REQUESTS, OncePerFailure, OneLineWhenExhausted

URL = "https://api/apis/llmservice.dev/v1alpha1/namespaces/gone/llmservices"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def attempt(number: int, reason: str = "", namespace: str = "gone") -> logging.LogRecord:
    """As kopf 1.45 writes it (clients/api.py)."""
    url = f"{URL.replace('gone', namespace)}?resourceVersion={number}"
    if reason:
        text, level = f"Request attempt #{number} failed; will retry: GET {url} -> {reason}", logging.ERROR
    else:
        text, level = f"Request attempt #{number} succeeded: GET {url}", logging.DEBUG
    return logging.LogRecord(KOPF_REQUESTS, level, "", 0, text, None, None)


def told(only: OncePerFailure, *records: logging.LogRecord) -> list[str]:
    return [f"{record.levelname} {record.getMessage()}" for record in records if only.filter(record)]


def test_a_failure_of_kopf_is_told_once_and_its_end_too() -> None:
    only = OncePerFailure(Clock())
    failures = [attempt(number, "APIForbiddenError('no')") for number in range(1, 100)]
    assert told(only, *failures, attempt(100), attempt(2)) == [
        f"ERROR GET {URL}: APIForbiddenError('no'); tried again until it works, and told once",
        f"INFO GET {URL}: works again",
    ]


def test_another_failure_is_told_and_so_is_that_of_another_namespace() -> None:
    only = OncePerFailure(Clock())
    records = [attempt(1, "first"), attempt(2, "second"), attempt(1, "second", "other"), attempt(3, "second")]
    assert len(told(only, *records)) == 3


def test_a_failure_of_long_ago_is_told_again() -> None:
    clock = Clock()
    only = OncePerFailure(clock)
    assert told(only, attempt(1, "no"))
    clock.now = 59
    assert not told(only, attempt(2, "no"))
    clock.now = 119.5
    assert told(only, attempt(1, "no"))


def test_other_words_of_kopf_pass_as_before() -> None:
    only = OncePerFailure(Clock())
    loud, quiet = (
        logging.LogRecord(KOPF_REQUESTS, level, "", 0, "Ignoring an unsupported event type", None, None)
        for level in (logging.WARNING, logging.DEBUG)
    )
    assert only.filter(loud)
    assert not only.filter(quiet)


def a_record(error: BaseException) -> logging.LogRecord:
    told = (type(error), error, None)
    return logging.LogRecord("aiohttp.server", logging.ERROR, "", 0, "Error handling request", None, told)


def exhausted() -> logging.LogRecord:
    error = ConnectionError("cannot connect")
    error.__cause__ = OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return a_record(error)


def test_that_file_descriptors_ran_out_is_one_line_a_minute() -> None:
    clock = Clock()
    one = OneLineWhenExhausted(clock)
    first, again, later = exhausted(), [exhausted() for _ in range(127)], exhausted()
    assert one.filter(first)
    assert not any(one.filter(record) for record in again)
    clock.now = 61
    assert one.filter(later)
    assert "raise the limit" in first.getMessage()
    assert first.exc_info is None
    assert later.getMessage().endswith("(127 more since the last line)")


@pytest.mark.parametrize("message", ["socket.accept() out of system resource", "x: [Errno 24] Too many open files"])
def test_a_message_about_it_counts_as_well(message: str) -> None:
    record = logging.LogRecord("asyncio", logging.WARNING, "", 0, message, None, None)
    assert OneLineWhenExhausted().filter(record)
    assert "file descriptor" in record.getMessage()


def test_another_error_keeps_its_traceback() -> None:
    record = a_record(OSError(errno.ENOSPC, "no space left"))
    assert OneLineWhenExhausted().filter(record)
    assert record.exc_info is not None


SERVER_WITHOUT_DESCRIPTORS = """
import asyncio, resource, socket
from llmservice.controllers.logs import set_up_logs

async def main():
    server = await asyncio.start_server(lambda *_: asyncio.sleep(0), "127.0.0.1", 0)
    address = server.sockets[0].getsockname()
    clients = []
    for _ in range(20):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(address)
        clients.append(client)
    held = []
    try:
        while True:
            held.append(socket.socket())
    except OSError:
        pass
    await asyncio.sleep(2.5)

set_up_logs("info")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
asyncio.run(main())
"""


def test_a_server_without_descriptors_tells_it_in_one_line() -> None:
    command = [sys.executable, "-W", "ignore", "-c", SERVER_WITHOUT_DESCRIPTORS]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stderr  # noqa: S603  (our own text)
    assert len(told.splitlines()) == 1, told
    assert "no file descriptor is left of the 64 this process may open" in told
