"""Events are written at the rate of client-go, for each object and for each namespace."""

import logging

import pytest

from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.event_rate_limiter import EventRateLimiter
from llmservice.objects.references import Manifest
from tests.unit.cluster.fake_api_server import FakeApiServer, answer, serving


def an_event(uid: str = "u", namespace: str = "ml") -> Manifest:
    about = {"kind": "LLMService", "name": "chat", "namespace": namespace, "uid": uid}
    metadata = {"name": "chat.1", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, "involvedObject": about}


def written(limiter: EventRateLimiter, *events: Manifest) -> int:
    return sum(limiter.allows(event) for event in events)


def test_a_resource_that_flaps_has_25_events_and_then_one_each_five_minutes() -> None:
    now = [0.0]
    limiter = EventRateLimiter(clock=lambda: now[0])
    assert written(limiter, *[an_event()] * 1000) == 25
    now[0] = 299.0
    assert written(limiter, an_event()) == 0
    now[0] = 300.0
    assert written(limiter, an_event(), an_event()) == 1


def test_a_thousand_resources_that_flap_have_a_thousand_events_and_then_ten_a_second() -> None:
    now = [0.0]
    limiter = EventRateLimiter(clock=lambda: now[0])
    events = [an_event(f"u-{number}") for number in range(1000)] * 3
    assert written(limiter, *events) == 1000
    now[0] = 2.0
    assert written(limiter, *events) == 20
    assert written(limiter, an_event("victim", "other")) == 1


def test_what_is_dropped_is_counted_and_logged_every_ten_minutes(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    now = [0.0]
    dropped: list[None] = []
    limiter = EventRateLimiter(clock=lambda: now[0], dropped=lambda: dropped.append(None))
    written(limiter, *[an_event()] * 1025)
    now[0] = 600.0
    written(limiter, *[an_event()] * 4)
    assert [record.getMessage().partition(" Events")[0] for record in caplog.records] == ["ml: 1", "ml: 1000"]
    assert len(dropped) == 1000 + 2


async def test_an_event_too_many_is_not_sent() -> None:
    fake = FakeApiServer(calls=[answer(201, {})])
    async with serving(fake) as connection:
        cluster = ApiServer(connection)
        for _ in range(30):
            await cluster.record(an_event())
    assert len(fake.requests) == 25
