"""What goes wrong, as values: which calls, from which on, how often, and how."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tests.faults.calls import Call


class Action(StrEnum):
    """What happens to a call, to the events of a watch, or to all that is read."""

    STATUS = "status"
    """A call is answered with `code` and never reaches the API server."""
    DELAY = "delay"
    """A call is held for `seconds`, then goes on."""
    HANG = "hang"
    """A call is never answered."""
    CUT_BEFORE = "cut before"
    """The connection breaks before the API server sees the call."""
    CUT_AFTER = "cut after"
    """The API server does it, but the connection breaks before the answer."""
    EOF = "eof"
    """A watch ends after an event, as the API server ends it now and then."""
    ERROR = "error"
    """A watch ends with an ERROR event of `code` in place of an event."""
    HALF_OPEN = "half-open"
    """A watch stays open and from an event on nothing comes any more."""
    DROP = "drop"
    """An event is lost."""
    DUPLICATE = "duplicate"
    """An event comes twice."""
    REORDER = "reorder"
    """An event comes after its successor."""
    GARBLE = "garble"
    """A line that is no JSON comes before an event."""
    FREEZE = "freeze"
    """Watches tell nothing new and lists are those of before, until the rule is gone."""


ON_EVENTS = frozenset({Action.EOF, Action.ERROR, Action.HALF_OPEN, Action.DROP, Action.DUPLICATE}) | {
    Action.REORDER,
    Action.GARBLE,
}


@dataclass(slots=True, kw_only=True)
class Rule:
    """Applies to the `nth` matching call (or event) and so many from it on: `times`, 0 for all.

    Empty fields match anything; `writes` restricts it to writes of users' objects. `event` is the type of a watch
    event. `then` is called in the moment of the fault. `hits` counts the faults.
    """

    action: Action
    verb: str = ""
    writes: bool = False
    resource: str = ""
    subresource: str | None = None
    event: str = ""
    nth: int = 1
    times: int = 1
    code: int = 0
    seconds: float = 0.0
    then: Callable[[], object] = lambda: None
    seen: int = 0
    hits: int = 0

    def strikes(self, call: Call, event: str = "") -> bool:
        """Whether this call, or this event of a watch, goes wrong; counts it."""
        if not self.fits(call, event):
            return False
        self.seen += 1
        if self.seen < self.nth or (self.times and self.hits >= self.times):
            return False
        self.hits += 1
        return True

    def fits(self, call: Call, event: str = "") -> bool:
        """Whether it is about such calls, or such events."""
        return (
            self.verb in {"", call.verb}
            and (call.is_write or not self.writes)
            and self.resource in {"", call.resource}
            and self.subresource in {None, call.subresource}
            and (self.action in ON_EVENTS) == bool(event)
            and self.event in {"", event}
        )


_REASONS = {
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


def status_body(code: int) -> bytes:
    """A Status object of the API server's kind."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"a fault of the test: {code}",
        "reason": _REASONS[code],
        "code": code,
    }
    return json.dumps(status).encode()
