"""The exception tree: each error carries the reason that conditions and events show, and what to do about it."""


class OperatorError(Exception):
    """Something went wrong that the operator can name.

    `reason` is CamelCase and used as condition reason and event reason; the message is one sentence that ends with
    the way out.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class InvalidSpec(OperatorError):
    """Permanent until the resource is edited: shown as Stalled, never retried by itself."""

    def __init__(self, reason: str, message: str, *, field: str = "") -> None:
        super().__init__(reason, f"{field}: {message}" if field else message)
        self.field = field


class NotYet(OperatorError):
    """Something this depends on has not happened: try again soon."""


class Unavailable(OperatorError):
    """The API server or a source cannot be reached or is overloaded: back off and try again.

    `retry_after_seconds` is what the other side asked for; 0 when it did not say.
    """

    def __init__(self, reason: str, message: str, *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(reason, message)
        self.retry_after_seconds = retry_after_seconds


class Refused(OperatorError):
    """The API server understood a write and refused it (403, 422): retrying the same write cannot help soon."""


class Conflict(OperatorError):
    """The object changed or is another one than expected (409): look again, then decide again."""
