"""The server that a bench asks before its load, and what it refuses, in words that name the way out."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

from llmservice.bench.generator import KEY_VARIABLE
from llmservice.cluster.transport.answers import read_at_most
from llmservice.errors import OperatorError, Refused, Unavailable
from llmservice.untrusted.texts import cut, in_a_line, printable

_LARGEST_ANSWER = 2**20
_SECONDS = 120.0
_SAID = 300
_BUSY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A base URL without `/v1`, a client's key or nothing, and `title`: what its user calls it."""

    url: str
    key: str
    title: str

    async def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """The body of its answer. Raises `Unavailable` or `Refused` with the way out."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        timeout = aiohttp.ClientTimeout(total=_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.request(
                    method, f"{self.url}{path}", json=body, headers=headers, allow_redirects=False
                ) as response,
            ):
                answer = await read_at_most(response.content, _LARGEST_ANSWER)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            raise Unavailable("Unreachable", f"{self.title}: {_why(error)}") from error
        if response.status != 200:  # noqa: PLR2004
            raise self._refusal(response, path, answer)
        return answer

    def _refusal(self, response: aiohttp.ClientResponse, path: str, answer: bytes) -> OperatorError:
        status, said = response.status, in_a_line(answer[: 4 * _SAID], _SAID)
        about = f"{self.title}: HTTP {status} for {path}"
        quoted = f"{about}: {said}" if said else about
        if status in (401, 403):
            how = "it does not take this key: give another" if self.key else "it asks for a key: give one"
            return Refused("KeyRefused", f"{about}: {how} by --key-file or {KEY_VARIABLE}")
        if location := response.headers.get("Location"):
            leads = in_a_line(location, _SAID)
            return Refused("Redirected", f"{about}: it leads to {leads}: give the address of the server itself")
        if status in _BUSY:
            return Unavailable("Busy", f"{quoted}; it takes no requests now: try again later")
        if status >= 500:  # noqa: PLR2004
            return Unavailable("ServerFailed", f"{quoted}; look into the server's log")
        return Refused("TargetRefused", f"{quoted}; is --model right, is it OpenAI's API?")


def _why(error: Exception) -> str:
    """What the system said of the connection, without the words of the library."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, TimeoutError):
        return f"no answer in {_SECONDS:.0f} s: is it busy with other requests?"
    if isinstance(error, aiohttp.ClientSSLError):
        return f"no TLS: {cut(printable(str(cause)), _SAID)}: does it speak HTTPS, and is its certificate trusted here?"
    number = getattr(cause, "errno", None)
    known = os.strerror(number) if isinstance(number, int) and number > 0 else getattr(cause, "strerror", None)
    return f"{cut(printable(str(known or cause)), _SAID)}: is it the address of a server that serves?"
