"""What a request is refused with: a status, and OpenAI's error object."""

from collections.abc import Mapping
from typing import ClassVar


class Refused(Exception):
    """A request that is not served. `field` is the part of its body that is wrong, empty for none."""

    status = 500
    kind = "server_error"
    headers: ClassVar[Mapping[str, str]] = {}

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field

    def document(self) -> dict[str, object]:
        """The answer's body."""
        error = {"message": self.message, "type": self.kind, "param": self.field or None, "code": self.status}
        return {"error": error}


class BadRequest(Refused):
    """The body cannot be served as it is."""

    status, kind = 400, "invalid_request_error"


class UnknownModel(Refused):
    """It asks for a model that is not served here."""

    status, kind = 404, "invalid_request_error"


class TooLarge(Refused):
    """The body has more bytes than allowed."""

    status, kind = 413, "invalid_request_error"


class Busy(Refused):
    """Every place is taken, in the queue too."""

    status, kind = 429, "overloaded"
    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "1"}


class NotReady(Refused):
    """The model is being loaded, or the server is about to stop."""

    status, kind = 503, "unavailable"
    headers: ClassVar[Mapping[str, str]] = {"Retry-After": "5"}


class UnusableModel(Exception):
    """The files are no model that this server can serve; the message names the file."""
