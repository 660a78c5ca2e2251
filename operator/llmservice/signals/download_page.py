"""How far a download is, from the metrics page of its pod: a few bytes, within two seconds, or nothing."""

import asyncio
from math import isfinite

import aiohttp
from yarl import URL

from llmservice.converging.weights_progress import Received
from llmservice.rendering.download_job import METRICS_PORT
from llmservice.signals.exposition import scan
from llmservice.signals.pod_session import filled, pod_session

_DONE, _EXPECTED = "llmservice_download_bytes_total", "llmservice_download_expected_bytes"
_SECONDS = 2.0
_MOST_BYTES = 16 * 2**10
"""The page has 2 kB."""
_LARGEST = 2**53
_OK = 200


async def read_download(address: str, port: int = METRICS_PORT) -> Received | None:
    """What the page at this address says; None where it is not reached, too large or says nothing that can be true."""
    try:
        async with asyncio.timeout(_SECONDS), pod_session() as session:
            url = URL.build(scheme="http", host=address, port=port, path="/metrics")
            async with session.get(url, allow_redirects=False) as response:
                if response.status != _OK:
                    return None
                page = await filled(bytearray(), _MOST_BYTES + 1, response.content)
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        return None
    return None if len(page) > _MOST_BYTES else received_in(bytes(page))


def received_in(page: bytes) -> Received | None:
    """What a page says; None where it lacks a number, or one of them can be no number of bytes."""
    found = scan(page, {_DONE: "", _EXPECTED: ""})
    values = [found[name][0].value for name in (_DONE, _EXPECTED) if found.get(name)]
    if len(values) < 2 or not all(isfinite(value) and 0 <= value <= _LARGEST for value in values):  # noqa: PLR2004
        return None
    done, expected = map(int, values)
    return Received(done=done, expected=expected)
