"""Reads logs through the API server, with the rights of the caller: the last lines, or the lines as they come."""

import asyncio
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import click

from llmservice.cli.log_choice import Log
from llmservice.cli.log_lines import Lines, redacted_text
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound

MOST_BYTES = 2**20
"""Of the last lines of one log; of a log that is followed nothing is kept."""

_PIECE_BYTES = 65_536
_SILENCE_SECONDS = 24 * 3600.0
"""An engine that nobody asks may say nothing for hours."""

_GONE = b"unable to retrieve container logs for "
"""What a kubelet answers, as if it were the log, where it has removed the container: often there is a new one soon."""
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be read of each log."""

    lines: int
    previous: bool = False
    timestamps: bool = False
    follow: bool = False


async def last_lines(connection: Connection, log: Log, asked: Asked, prefix: str) -> None:
    """Print the last lines: fewer than asked for where they are too long. Raises what the API server answers.

    A limit of bytes cuts off the end of what is asked for, and the end is what counts.
    """
    answer = await _read(connection, log, asked)
    while len(answer) >= MOST_BYTES and asked.lines > 1:
        asked = replace(asked, lines=asked.lines // 2)
        answer = await _read(connection, log, asked)
    _write(redacted_text(answer.decode(errors="replace")), prefix)


async def follow(connection: Connection, log: Log, asked: Asked, prefix: str) -> None:
    """Print lines as they come, until the container ends. Raises what the API server answers."""
    lines = Lines()
    async with connection.stream(
        _target(log, asked, follow=True), silence_seconds=_SILENCE_SECONDS, accept="*/*"
    ) as stream:
        while piece := await stream.read(_PIECE_BYTES):
            _write(lines.take(piece), prefix)
    _write(lines.rest(), prefix)


async def _read(connection: Connection, log: Log, asked: Asked) -> bytes:
    for attempt in range(_ATTEMPTS):
        answer = await connection.call_raw("GET", _target(log, asked), accept="*/*")
        if not answer.startswith(_GONE):
            return answer
        await asyncio.sleep(attempt)
    raise NotFound(
        "NoLog", f"the node has removed the log of {log.pod}, {log.container}: try again after its next start"
    )


def _target(log: Log, asked: Asked, *, follow: bool = False) -> str:
    query = {"container": log.container, "tailLines": asked.lines, "timestamps": str(asked.timestamps).lower()}
    query |= {"follow": "true"} if follow else {"previous": str(asked.previous).lower(), "limitBytes": MOST_BYTES}
    return f"{KINDS['Pod'].item(log.namespace, log.pod, 'log')}?{urlencode(query)}"


def _write(text: str, prefix: str) -> None:
    if prefix:
        text = "".join(f"{prefix}{line}\n" for line in text.splitlines())
    click.echo(text, nl=False)
