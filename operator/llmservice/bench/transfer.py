"""What a bench measured as marked lines of a log, and back: how the Job of `--in-cluster` hands over its records.

    llmservice-bench 1/3 eJx…

is one of three pieces of a compressed JSON document (zlib, base64). Everything else in the log is progress. The
document has a row per request; numbers alone, so that 100,000 requests are about 4 MB of log.
"""

import base64
import binascii
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from llmservice.bench.load import MOST_REQUESTS
from llmservice.bench.records import Record, cut_error
from llmservice.errors import InvalidInput

_MARK = "llmservice-bench "
_PIECE = 4096
_MOST_PIECES = 4096
_LARGEST_DOCUMENT = 96 * 2**20
_MOST_GAPS = 1_000_000
"""In all records together; with more of them none is handed over."""
_TICK = 1e-5
"""Seconds: of what times are multiples in the document."""
_COLUMNS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What one run of the bench hands over: all that its report is made from, and the model that answered."""

    model: str
    interrupted: bool
    records: Sequence[Record]


def packed(handed: Handed) -> Iterator[str]:
    """The lines, without their ends."""
    with_gaps = sum(len(record.gaps) for record in handed.records) <= _MOST_GAPS
    errors = sorted({record.error for record in handed.records if record.error})
    start = min((record.at for record in handed.records), default=0.0)
    document = {
        "model": handed.model,
        "interrupted": handed.interrupted,
        "start": start,
        "errors": errors,
        "rows": [_row(record, start, errors, with_gaps=with_gaps) for record in handed.records],
    }
    text = base64.b64encode(zlib.compress(orjson.dumps(document), 9)).decode()
    pieces = [text[place : place + _PIECE] for place in range(0, len(text), _PIECE)]
    return (f"{_MARK}{number}/{len(pieces)} {piece}" for number, piece in enumerate(pieces, start=1))


@dataclass(slots=True)
class Pieces:
    """The marked lines of one log, as they come; read again from its beginning they do no harm."""

    _pieces: dict[int, str] = field(default_factory=dict)
    _all: int = 0

    def take(self, line: str) -> bool:
        """Whether the line is one of ours, and kept."""
        if not line.startswith(_MARK):
            return False
        place, _, piece = line.removeprefix(_MARK).partition(" ")
        number, _, count = place.partition("/")
        known = number.isdecimal() and count.isdecimal() and len(place) < 2 * len(str(_MOST_PIECES)) + 2
        if not known or not 0 < int(number) <= int(count) <= _MOST_PIECES or len(piece) > _PIECE:
            return False
        self._all = int(count)
        self._pieces[int(number)] = piece
        return True

    def unpacked(self) -> Handed | None:
        """What was handed over; None while a piece is missing. Raises InvalidInput for what is none of ours."""
        if not self._all or len(self._pieces) < self._all:
            return None
        try:
            data = base64.b64decode("".join(piece for _, piece in sorted(self._pieces.items())), validate=True)
            text = zlib.decompressobj().decompress(data, _LARGEST_DOCUMENT)
            return _handed(orjson.loads(text))
        except (binascii.Error, zlib.error, ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise InvalidInput("UnreadableResult", f"the Job's result cannot be read: {error}: try again") from error


def _row(record: Record, start: float, errors: Sequence[str], *, with_gaps: bool) -> list[Any]:
    times = (record.at - start, record.seconds, record.first, record.late)
    sizes = (record.prompt_tokens, record.answer_tokens)
    error = errors.index(record.error) if record.error else -1
    gaps = [_ticks(gap) for gap in record.gaps] if with_gaps else []
    return [record.phase, error, *sizes, *(_ticks(seconds) for seconds in times), *gaps]


def _ticks(seconds: float) -> int:
    return round(seconds / _TICK)


def _handed(document: Mapping[str, Any]) -> Handed:
    errors = [cut_error(str(error)) for error in document["errors"]]
    rows, start = document["rows"][:MOST_REQUESTS], float(document["start"])
    if not math.isfinite(start):
        raise ValueError("start is no time")
    return Handed(
        model=str(document["model"])[:256],
        interrupted=bool(document["interrupted"]),
        records=[_record(row, start, errors) for row in rows],
    )


def _record(row: Sequence[int], start: float, errors: Sequence[str]) -> Record:
    if not all(isinstance(value, int) for value in row) or len(row) < _COLUMNS or min((0, *row[2:])) < 0:
        raise ValueError("a row is none")
    phase, error, prompt, answer, at, seconds, first, late = row[:_COLUMNS]
    return Record(
        phase=phase,
        at=start + at * _TICK,
        seconds=seconds * _TICK,
        first=first * _TICK,
        prompt_tokens=prompt,
        answer_tokens=answer,
        gaps=tuple(gap * _TICK for gap in row[_COLUMNS:]),
        late=late * _TICK,
        error=errors[error] if error >= 0 else "",
    )
