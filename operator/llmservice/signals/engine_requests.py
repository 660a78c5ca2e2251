"""Small requests to an engine, by which adapters come and go: a page that is read, and JSON that is posted."""

import asyncio
from dataclasses import dataclass

import aiohttp
from yarl import URL

from llmservice.converging.redaction import redacted
from llmservice.signals.pod_session import filled, pod_session

_MOST_BYTES = 256 * 2**10
_PAGE_SECONDS, _POST_SECONDS = 10.0, 300.0
"""An engine that fetches what it is to load answers when it has it."""
_LONGEST_ANSWER = 300
_OK = 200
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What came back: `body` where the engine did what it was asked for, else `problem` says why not, printable."""

    body: bytes = b""
    problem: str = ""


async def get_page(address: str, port: int, path: str) -> EngineAnswer:
    """GET of a path; never raises."""
    return await _asked("GET", _url(address, port, path), None, _PAGE_SECONDS)


async def post_json(address: str, port: int, path: str, body: bytes) -> EngineAnswer:
    """POST of JSON; never raises."""
    return await _asked("POST", _url(address, port, path), body, _POST_SECONDS)


def _url(address: str, port: int, path: str) -> URL:
    return URL.build(scheme="http", host=address, port=port, path=path)


async def _asked(method: str, url: URL, body: bytes | None, seconds: float) -> EngineAnswer:
    try:
        async with (
            asyncio.timeout(seconds),
            pod_session() as session,
            session.request(method, url, data=body, headers=_JSON, allow_redirects=False) as response,
        ):
            answer = bytes(await filled(bytearray(), _MOST_BYTES + 1, response.content))
            return _judged(response.status, answer)
    except TimeoutError:
        return EngineAnswer(problem=f"no answer to {url.path} within {seconds:g} s")
    except (aiohttp.ClientError, OSError, ValueError) as error:
        return EngineAnswer(problem=redacted(str(error), _LONGEST_ANSWER) or type(error).__name__)


def _judged(status: int, answer: bytes) -> EngineAnswer:
    if len(answer) > _MOST_BYTES:
        return EngineAnswer(problem=f"an answer of more than {_MOST_BYTES >> 10} KiB")
    if status == _OK:
        return EngineAnswer(body=answer)
    said = redacted(answer.decode("utf-8", "replace"), _LONGEST_ANSWER)
    return EngineAnswer(problem=f"HTTP {status}: {said}")
