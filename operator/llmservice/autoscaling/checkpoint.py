"""Memory as one opaque string of at most 4 kB, and back: what survives a restart of the operator.

JSON, deflated, base 85, behind a version: small, and exact for the whole numbers and the doubles that memory holds.
"""

import base64
import binascii
import dataclasses
import json
import math
import zlib
from collections.abc import Iterator
from typing import Any

from llmservice.autoscaling.memory import (
    Capacity,
    Demand,
    Forecast,
    LinePoint,
    Memory,
    ReplicaMinute,
    Sizes,
    Stabilization,
    Violations,
)
from llmservice.autoscaling.safe_load import rescaled

MAX_CHARACTERS = 4096

_VERSION = "2:"
_MAX_JSON_BYTES = 1 << 16
_LARGEST_MODERATE = 1e12


def encoded(memory: Memory, at_most: int = MAX_CHARACTERS) -> str:
    """The checkpoint of a memory, at most so many characters long.

    A service with so many replicas that it does not fit loses first the minutes being sampled, then readings from the
    oldest on; the next decisions do without them, as after a pause.
    """
    for smaller in _ever_smaller(memory):
        text = _VERSION + base64.b85encode(zlib.compress(_json(smaller).encode(), 9)).decode()
        if len(text) <= at_most:
            return text
    return ""


def decoded(checkpoint: str) -> Memory | None:
    """The memory of a checkpoint; None when it is none of this version, damaged or meaningless."""
    if not checkpoint.startswith(_VERSION) or len(checkpoint) > MAX_CHARACTERS:
        return None
    try:
        inflated = zlib.decompressobj().decompress(base64.b85decode(checkpoint[len(_VERSION) :]), _MAX_JSON_BYTES)
        return _memory(json.loads(inflated, parse_constant=_refused))
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error, binascii.Error, RecursionError):
        return None


def _json(memory: Memory) -> str:
    return json.dumps(_rows(memory), separators=(",", ":"), allow_nan=False)


def _rows(memory: Memory) -> list[Any]:
    capacity, demand, stabilization = memory.capacity, memory.demand, memory.stabilization
    return [
        memory.at,
        [
            _table(capacity.line),
            capacity.kv_per_token,
            _table(capacity.violations),
            capacity.violation_weight,
            _table(capacity.minutes),
        ],
        [
            demand.sizes and _fields(demand.sizes),
            demand.loads,
            demand.half_minutes,
            demand.readings,
            demand.held,
            [_fields(forecast) for forecast in demand.forecasts],
            demand.error,
            demand.ordinary_error,
            demand.judged,
            demand.cold_starts,
            demand.surprise,
            demand.surprise_hours,
        ],
        [stabilization.targets, stabilization.needs, stabilization.changes],
    ]


def _memory(rows: Any) -> Memory:
    at, capacity, demand, stabilization = rows
    line, kv_per_token, violations, violation_weight, minutes = capacity
    sizes, loads, half_minutes, readings, held, forecasts, error, ordinary_error, judged, cold_starts, *rest = demand
    surprise, surprise_hours = rest
    return Memory(
        at=None if at is None else _number(at),
        capacity=rescaled(
            Capacity(
                line={int(level): LinePoint(*_positives(row)) for level, *row in line},
                kv_per_token=_number(kv_per_token),
                violations={int(level): Violations(*_numbers(row)) for level, *row in violations},
                violation_weight=_positives([violation_weight])[0],
                minutes={str(name): ReplicaMinute(*row[:2], *_numbers(row[2:])) for name, *row in minutes},
            )
        ),
        demand=Demand(
            sizes=None if sizes is None else _sizes(sizes),
            loads=_wholes(loads),
            half_minutes=_wholes(half_minutes),
            readings=int(readings),
            held=_wholes(held),
            forecasts=tuple(Forecast(_number(when), int(ahead), int(usual)) for when, ahead, usual in forecasts),
            error=_number(error),
            ordinary_error=_number(ordinary_error),
            judged=int(judged),
            cold_starts=_wholes(cold_starts),
            surprise=_moderate(surprise),
            surprise_hours=_moderate(surprise_hours),
        ),
        stabilization=Stabilization(
            *(tuple((_number(when), int(number)) for when, number in rows) for rows in stabilization)
        ),
    )


def _table(rows: Any) -> list[list[Any]]:
    return [[key, *_fields(row)] for key, row in rows.items()]


def _fields(row: Any) -> list[Any]:
    return [getattr(row, field.name) for field in dataclasses.fields(row)]


def _number(value: Any) -> float:
    """A finite number that JSON gave as such; a checkpoint is text that others can write to."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(value)
    return value


def _sizes(row: Any) -> Sizes:
    sizes = Sizes(*_numbers(row))
    _positives([sizes.prompts, sizes.answers, sizes.entered_tokens + sizes.generated_tokens])
    return sizes


def _positives(row: Any) -> tuple[float, ...]:
    """Numbers that something is divided by."""
    numbers = _numbers(row)
    if not all(number > 0 for number in numbers):
        raise ValueError(row)
    return numbers


def _numbers(row: Any) -> tuple[float, ...]:
    return tuple(_number(value) for value in row)


def _moderate(value: Any) -> float:
    """A number that can be squared, rooted and divided by without leaving the numbers."""
    if not 0 <= _number(value) <= _LARGEST_MODERATE:
        raise ValueError(value)
    return float(value)


def _wholes(row: Any) -> tuple[int, ...]:
    return tuple(int(_number(value)) for value in row)


def _refused(constant: str) -> float:
    raise ValueError(constant)


def _ever_smaller(memory: Memory) -> Iterator[Memory]:
    yield memory
    memory = dataclasses.replace(memory, capacity=dataclasses.replace(memory.capacity, minutes={}))
    yield memory
    for keep in (60, 30, 12):
        yield dataclasses.replace(memory, demand=_shortened(memory.demand, keep))
    yield Memory(at=memory.at, capacity=dataclasses.replace(memory.capacity, violations={}, violation_weight=1.0))


def _shortened(demand: Demand, keep: int) -> Demand:
    return dataclasses.replace(
        demand,
        loads=demand.loads[-keep:],
        half_minutes=demand.half_minutes[-keep:],
        forecasts=demand.forecasts[:keep],
    )
