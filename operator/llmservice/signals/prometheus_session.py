"""An HTTP session for prometheus-api-client that keeps bounds: its own has none for time, size and redirects."""

import time
from dataclasses import dataclass
from typing import Any

import orjson
import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from llmservice.converging.redaction import redacted
from llmservice.signals.source import Unread, UnreadReason

_UNAUTHORIZED = (401, 403)
_PIECE_BYTES = 2**18
_LONGEST_ADDRESS = 200
_LONGEST_ERROR = 300


class Unanswered(Exception):
    """The server gave no answer that could be used; `unread` says why."""

    def __init__(self, reason: UnreadReason, message: str) -> None:
        super().__init__(message)
        self.unread = Unread(reason=reason, message=message)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the client looks at of a response."""

    status_code: int
    content: bytes

    def json(self) -> Any:
        """The content, parsed; raises ValueError."""
        return orjson.loads(self.content)


class BoundedSession(requests.Session):
    """Requests that end when the round does, follow nothing, and read no more than `most_bytes`.

    Proxies and passwords of the environment are not looked at. `begin` starts a round.
    """

    def __init__(self, *, round_seconds: float, most_bytes: int, ca_file: str = "") -> None:
        super().__init__()
        self.trust_env = False
        self.headers["Accept-Encoding"] = "identity"
        self.verify = ca_file or True
        self._round_seconds, self._most_bytes = round_seconds, most_bytes
        self._end = 0.0

    def begin(self) -> None:
        """From now on counts the time of this round."""
        self._end = time.monotonic() + self._round_seconds

    def request(self, method: Any, url: Any, **options: Any) -> Any:  # type: ignore[override]
        """An Answer; raises Unanswered."""
        options |= {"stream": True, "allow_redirects": False, "timeout": max(0.01, self._left())}
        try:
            with super().request(method, url, **options) as response:
                _check(response)
                return Answer(response.status_code, self._body(response))
        except (requests.Timeout, TimeoutError, ReadTimeoutError) as error:
            raise self._too_late() from error
        except (requests.RequestException, HTTPError, OSError) as error:
            raise Unanswered(
                UnreadReason.UNREACHABLE,
                f"the metrics server does not answer ({redacted(str(error), _LONGEST_ERROR)}): correct "
                "LLMSERVICE_PROMETHEUS_URL, or the network",
            ) from error

    def _left(self) -> float:
        return self._end - time.monotonic()

    def _body(self, response: requests.Response) -> bytes:
        body = bytearray()
        # Not iter_content: it waits until a piece is full, however slowly it fills.
        while piece := response.raw.read1(_PIECE_BYTES, decode_content=False):
            body += piece
            if len(body) > self._most_bytes:
                raise Unanswered(
                    UnreadReason.TOO_LARGE,
                    f"the metrics server sends more than {self._most_bytes >> 20} MiB for one metric: let it scrape "
                    "each pod once, with no more labels than needed",
                )
            if self._left() < 0:
                raise self._too_late()
        return bytes(body)

    def _too_late(self) -> Unanswered:
        return Unanswered(
            UnreadReason.TIMED_OUT,
            f"the metrics server did not answer all queries within {self._round_seconds:g} s: see its load, or take "
            "Pods as the source",
        )


def _check(response: requests.Response) -> None:
    """Pass an answer that can be read; raises Unanswered."""
    if response.status_code in _UNAUTHORIZED:
        raise Unanswered(
            UnreadReason.UNAUTHORIZED,
            f"the metrics server says HTTP {response.status_code}: correct the token, and what it may read",
        )
    if response.is_redirect:
        where = redacted(response.headers.get("Location", ""), _LONGEST_ADDRESS)
        raise Unanswered(
            UnreadReason.REDIRECTED,
            f"the metrics server leads to {where}, and redirects are not followed: correct LLMSERVICE_PROMETHEUS_URL",
        )
