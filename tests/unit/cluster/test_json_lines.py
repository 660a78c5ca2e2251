from collections.abc import AsyncIterator

import pytest

from llmservice.cluster.transport.json_lines import json_lines
from llmservice.errors import Unavailable


class Chunks:
    def __init__(self, *chunks: bytes) -> None:
        self.chunks = chunks

    async def iter_any(self) -> AsyncIterator[bytes]:
        for chunk in self.chunks:
            yield chunk


async def read(*chunks: bytes) -> list[dict[str, object]]:
    return [line async for line in json_lines(Chunks(*chunks))]


@pytest.mark.parametrize(
    "chunks",
    [
        (b'{"a":1}\n{"a":2}\n',),
        (b'{"a":1}\n', b'{"a":2}\n'),
        (b'{"a"', b":1}\n{", b'"a":2}', b"\n"),
        tuple(bytes([byte]) for byte in b'{"a":1}\n{"a":2}\n'),
    ],
)
async def test_reads_lines_however_they_are_cut(chunks: tuple[bytes, ...]) -> None:
    assert await read(*chunks) == [{"a": 1}, {"a": 2}]


async def test_drops_a_torn_last_line() -> None:
    assert await read(b'{"a":1}\n{"a":') == [{"a": 1}]


async def test_reads_a_line_of_megabytes() -> None:
    long = b"x" * 3_000_000
    lines = await read(b'{"a":"', long, b'"}\n')

    assert lines == [{"a": long.decode()}]


@pytest.mark.parametrize("line", [b"<html>\n", b"[1]\n", b"\n", b"\xff\xfe\n"])
async def test_a_line_that_is_no_object_is_an_error(line: bytes) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        await read(line)


async def test_a_line_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.cluster.transport.json_lines._LONGEST_LINE_BYTES", 100)
    with pytest.raises(Unavailable, match="a line of more than 100 bytes"):
        await read(b"x" * 60, b"x" * 60)
