"""One HTTP session with the API server: bounded and authenticated; every failure is one of our errors."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson
from yarl import URL

from llmservice import __version__
from llmservice.cluster.transport.answers import LARGEST_ANSWER_BYTES, read_at_most
from llmservice.cluster.transport.credentials import Credentials
from llmservice.cluster.transport.failures import failure_of, garbled, silent, unreachable
from llmservice.cluster.transport.json_as_yaml import as_yaml
from llmservice.errors import OperatorError

_CALLS_AT_ONCE = 64
_LARGE_BYTES = 32 * 1024
_LARGE_AT_ONCE = 2
"""Bodies of more than `_LARGE_BYTES` that are sent at once: each costs the API server as much as ten usual ones, and
twelve workers that send such bodies of one tenant made others wait for seconds."""
_LARGEST_FAILURE_BYTES = 2**20
_TIMEOUT_SECONDS = 15.0
_HEADERS = {
    "Accept": "application/json",
    # Packing costs the API server more than the bytes cost a cluster's network.
    "Accept-Encoding": "identity",
    "User-Agent": f"llmservice-operator/{__version__}",
}


@dataclass(slots=True, kw_only=True)
class Connection:
    """Sends requests and reads streams. Made by `connect`.

    Calls have a connection limit of their own, so that long-lived watches never starve them; large bodies have a
    narrower one. No response is read without a size limit.
    """

    credentials: Credentials
    session: aiohttp.ClientSession
    timeout_seconds: float = _TIMEOUT_SECONDS
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_CALLS_AT_ONCE))
    _large: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_LARGE_AT_ONCE))
    _transport: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        options = {"proxy": self.credentials.proxy, "server_hostname": self.credentials.server_hostname}
        self._transport = {key: value for key, value in options.items() if value}

    async def call(
        self,
        method: str,
        target: str,
        *,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Send one request and return the answer's JSON object.

        `target` is path and query, already quoted; `headers` go with it. Raises what `failures` names, within
        `timeout_seconds`.
        """
        answer = await self.call_raw(
            method, target, body=body, content_type=content_type, accept=accept, headers=headers
        )
        return json_object(answer, f"{method} {target}")

    async def call_raw(
        self,
        method: str,
        target: str,
        *,
        body: Any = None,
        content_type: str = "application/json",
        accept: str = "",
        headers: Mapping[str, str] | None = None,
        at_most: int = LARGEST_ANSWER_BYTES,
    ) -> bytes:
        """Like `call`, with the answer as it is; raises `AnswerTooLarge` when it has more than `at_most` bytes."""
        headers = dict(headers or {}) | ({"Content-Type": content_type} if body is not None else {})
        if accept:
            headers["Accept"] = accept
        data = None if body is None else as_yaml(orjson.dumps(body))
        try:
            async with asyncio.timeout(self.timeout_seconds), self._place_for(data):
                status, answer, retry_after = await self._send(method, target, headers, data, at_most)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error
        if 200 <= status < 300:  # noqa: PLR2004
            return answer
        raise failure_of(status, answer, retry_after)

    @asynccontextmanager
    async def _place_for(self, data: bytes | None) -> AsyncIterator[None]:
        """A place among the calls, for a large body first one among those."""
        async with self._large if data and len(data) > _LARGE_BYTES else nullcontext(), self._free:
            yield

    async def _send(
        self, method: str, target: str, headers: dict[str, str], data: bytes | None, at_most: int
    ) -> tuple[int, bytes, str]:
        """Send; once more with fresh credentials when the server rejects the current ones."""
        url = URL(self.credentials.server + target, encoded=True)
        for attempt in range(2):
            if token := await self.credentials.authorization():
                headers["Authorization"] = token
            async with self.session.request(
                method, url, data=data, headers=headers, allow_redirects=False, **self._transport
            ) as response:
                status, answer = response.status, await read_at_most(response.content, at_most)
            if status != 401 or attempt:  # noqa: PLR2004
                break
            await self.credentials.rejected(token)
        return status, answer, response.headers.get("Retry-After", "")

    @asynccontextmanager
    async def stream(
        self, target: str, *, silence_seconds: float, accept: str = ""
    ) -> AsyncIterator[aiohttp.StreamReader]:
        """Open a stream; it fails (`Silent`) when nothing arrives for `silence_seconds`."""
        url = URL(self.credentials.server + target, encoded=True)
        token = await self.credentials.authorization()
        headers = {key: value for key, value in (("Authorization", token), ("Accept", accept)) if value}
        limits = aiohttp.ClientTimeout(total=None, connect=self.timeout_seconds, sock_read=silence_seconds)
        try:
            async with self.session.get(
                url, headers=headers, timeout=limits, allow_redirects=False, **self._transport
            ) as response:
                if response.status != 200:  # noqa: PLR2004
                    raise await self._stream_failure(response, token)
                try:
                    yield response.content
                except aiohttp.SocketTimeoutError as error:
                    raise silent(silence_seconds) from error
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise unreachable(error) from error

    async def _stream_failure(self, response: aiohttp.ClientResponse, token: str) -> OperatorError:
        answer = await read_at_most(response.content, _LARGEST_FAILURE_BYTES)
        if response.status == 401:  # noqa: PLR2004
            await self.credentials.rejected(token)
        return failure_of(response.status, answer, response.headers.get("Retry-After", ""))


def json_object(answer: bytes, what: str) -> dict[str, Any]:
    """The answer's JSON object; `Unavailable` when it is none. `what` names the call."""
    try:
        content = orjson.loads(answer)
    except orjson.JSONDecodeError as error:
        raise garbled(what, error) from error
    if not isinstance(content, dict):
        raise garbled(what, ValueError("not an object"))
    return content


@asynccontextmanager
async def connect(credentials: Credentials, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> AsyncIterator[Connection]:
    """A connection that lives as long as the block."""
    connector = aiohttp.TCPConnector(limit=0, ssl=credentials.tls)
    # Every call and stream has its own limit; the session's default would end watches after five minutes.
    async with aiohttp.ClientSession(
        connector=connector,
        headers=_HEADERS,
        timeout=aiohttp.ClientTimeout(total=None),
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as session:
        yield Connection(credentials=credentials, session=session, timeout_seconds=timeout_seconds)
