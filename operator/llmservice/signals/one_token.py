"""Asks an engine for one token: the proof that it works, where its metrics say that it does not.

Metrics alone can be wrong: when all requests are cancelled at once, vLLM before 0.13 goes on reporting them as running
(vllm-project/vllm issues 22545 and 29928), and to restart an engine that is merely idle would be our mistake.
"""

import asyncio
from enum import StrEnum

import aiohttp
from yarl import URL

from llmservice.engines.proxied import POD_UID_HEADER, TOKEN_PATH

_OK = 200
_MOST_BYTES = 64 * 2**10


class Answer(StrEnum):
    """What became of the request."""

    SERVED = "Served"
    """A completion came: the engine works."""
    SILENT = "Silent"
    """The connection was accepted, and no answer came in time."""
    UNTOLD = "Untold"
    """It was refused, or could not be sent: nothing follows from it."""


async def ask_for_token(
    session: aiohttp.ClientSession, address: str, port: int, model: str, *, pod_uid: str, seconds: float
) -> Answer:
    """Send one completion of one token to the pod at this address, and wait so long for it. Never raises.

    All engines of the catalogue answer OpenAI's completions on the port that has their metrics. A proxy that asks
    clients for keys lets the question pass, now and then, for who knows the UID of its pod.
    """
    url = URL.build(scheme="http", host=address, port=port, path=TOKEN_PATH)
    body = {"model": model, "prompt": "a", "max_tokens": 1, "stream": False}
    try:
        async with (
            asyncio.timeout(seconds),
            session.post(url, json=body, headers={POD_UID_HEADER: pod_uid}, allow_redirects=False) as response,
        ):
            if response.status != _OK:
                return Answer.UNTOLD
            return Answer.SERVED if await response.content.read(_MOST_BYTES) else Answer.UNTOLD
    except TimeoutError:
        return Answer.SILENT
    except (aiohttp.ClientError, OSError, ValueError):
        return Answer.UNTOLD
