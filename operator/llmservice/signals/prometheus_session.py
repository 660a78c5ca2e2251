"""An HTTP session for prometheus-api-client with bounds on time, size and redirects, which its own lacks."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any

import orjson
import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from llmservice.converging.pod_readings import ReadFailure, ReadFailureReason
from llmservice.converging.redaction import redacted

_UNAUTHORIZED = (401, 403)
_PIECE_BYTES = 2**18
_LONGEST_ADDRESS = 200
_LONGEST_ERROR = 300
_OK = 200
_MOST_OF_AN_ERROR = 4096


class Unanswered(Exception):
    """The server gave no answer that could be used; `unread` says why."""

    def __init__(self, reason: ReadFailureReason, message: str) -> None:
        super().__init__(message)
        self.unread = ReadFailure(reason=reason, message=message)


@dataclass(frozen=True, slots=True)
class Answer:
    """The part of a response that the client reads."""

    status_code: int
    content: bytearray
    session: "BoundedSession"

    def json(self) -> Any:
        """The content, parsed and reduced; raises ValueError. One at a time: it takes many times its size."""
        with self.session.parsing:
            return self.session.reduce(orjson.loads(self.content))


class BoundedSession(requests.Session):
    """Requests that end after `query_seconds` or with the round, follow no redirect, and read at most `most_bytes`.

    Proxies and passwords of the environment are ignored. `begin` starts a round. Several threads may use it.
    """

    def __init__(
        self,
        *,
        round_seconds: float,
        query_seconds: float,
        most_bytes: int,
        reduce: Callable[[Any], Any],
        ca_file: str = "",
    ) -> None:
        super().__init__()
        self.trust_env = False
        self.headers["Accept-Encoding"] = "identity"
        self.verify = ca_file or True
        self.reduce = reduce
        self.parsing = Lock()
        self._round_seconds, self._query_seconds, self._most_bytes = round_seconds, query_seconds, most_bytes
        self._end = 0.0

    def begin(self) -> None:
        """Start the time of a round."""
        self._end = time.monotonic() + self._round_seconds

    @property
    def is_over(self) -> bool:
        """Whether the round has ended."""
        return time.monotonic() >= self._end

    def request(self, method: Any, url: Any, **options: Any) -> Any:  # type: ignore[override]
        """An Answer; raises Unanswered."""
        seconds = max(0.01, min(self._query_seconds, self._end - time.monotonic()))
        options |= {"stream": True, "allow_redirects": False, "timeout": seconds}
        try:
            with super().request(method, url, **options) as response:
                _check(response)
                return Answer(response.status_code, self._body(response, time.monotonic() + seconds), self)
        except (requests.Timeout, TimeoutError, ReadTimeoutError) as error:
            raise self._too_late() from error
        except (requests.RequestException, HTTPError, OSError) as error:
            raise Unanswered(
                ReadFailureReason.UNREACHABLE,
                f"the metrics server does not answer ({redacted(str(error), _LONGEST_ERROR)}): correct "
                "LLMSERVICE_PROMETHEUS_URL, or the network",
            ) from error

    def _body(self, response: requests.Response, end: float) -> bytearray:
        body = bytearray()
        # Not iter_content: it waits until a piece is full, however slowly it fills.
        while piece := response.raw.read1(_PIECE_BYTES, decode_content=False):
            body += piece
            if response.status_code != _OK and len(body) > _MOST_OF_AN_ERROR:
                return body[:_MOST_OF_AN_ERROR]
            if len(body) > self._most_bytes:
                raise Unanswered(ReadFailureReason.TOO_LARGE, self._too_large())
            if time.monotonic() > end:
                raise self._too_late()
        return body

    def _too_large(self) -> str:
        return (
            f"the metrics server sends more than {self._most_bytes >> 20} MiB for this namespace: let it scrape each "
            "pod once, spread the services over several namespaces, or take Pods as the source"
        )

    def _too_late(self) -> Unanswered:
        return Unanswered(
            ReadFailureReason.TIMED_OUT,
            f"the metrics server did not answer a query within {self._query_seconds:g} s: see its load, or take Pods "
            "as the source",
        )


def _check(response: requests.Response) -> None:
    """Pass an answer that can be read; raises Unanswered."""
    if response.status_code in _UNAUTHORIZED:
        raise Unanswered(
            ReadFailureReason.UNAUTHORIZED,
            f"the metrics server says HTTP {response.status_code}: correct the token, and what it may read",
        )
    if response.is_redirect:
        where = redacted(response.headers.get("Location", ""), _LONGEST_ADDRESS)
        raise Unanswered(
            ReadFailureReason.REDIRECTED,
            f"the metrics server leads to {where}, and redirects are not followed: correct LLMSERVICE_PROMETHEUS_URL",
        )
