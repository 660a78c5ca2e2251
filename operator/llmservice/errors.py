"""The exception tree: each error carries the reason that conditions and events show, and says what to do about it.

    OperatorError
    ├── InvalidInput        what somebody gave cannot be used
    │   ├── InvalidSpec         a resource
    │   │   └── ModelRefused        whose model no engine would get at
    │   ├── InvalidCatalogue    an administrator's catalogue
    │   ├── InvalidSetting      an environment variable of the operator
    │   └── UsageError          an option of the command
    ├── NotYet              something this depends on has not happened
    ├── OwnerGone           the resource that is worked on was deleted
    ├── Unavailable         no answer, or too busy
    │   ├── AnswerTooLarge      more bytes than are ever read
    │   ├── TooMuch             somebody asks for more than their share
    │   ├── Unauthorized        nobody knows these credentials, or not any more (401)
    │   ├── Expired             the resource version is too old (410)
    │   ├── Silent              a stream is open and says nothing
    │   └── NotLeader           another replica leads
    ├── Refused             the API server understood and said no
    │   ├── NotFound            no such object (404)
    │   └── Terminating         the namespace is being deleted (403)
    └── Conflict            the object is not as expected (409)
        └── NameTaken           the name of a child is another object's

An exception that never leaves its module stands there.
"""


class OperatorError(Exception):
    """Something went wrong that the operator can name.

    `reason` is CamelCase and used as condition reason and event reason; the message is one sentence that ends with
    the way out.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class InvalidInput(OperatorError):
    """Permanent until somebody edits what they gave: never retried by itself. `field` names it, where it has a name."""

    def __init__(self, reason: str, message: str, *, field: str = "") -> None:
        super().__init__(reason, f"{field}: {message}" if field else message)
        self.field = field


class InvalidSpec(InvalidInput):
    """A resource that only an edit can help: shown as Stalled.

    `parts` are the refusals that it is made of, where there are several with a reason each.
    """

    def __init__(self, reason: str, message: str, *, field: str = "", parts: tuple["InvalidSpec", ...] = ()) -> None:
        super().__init__(reason, message, field=field)
        self.parts = parts


class ModelRefused(InvalidSpec):
    """A model that no engine would get at: looked at again after a while, for a licence may be accepted meanwhile."""


class InvalidCatalogue(InvalidInput):
    """A catalogue file cannot be used; the message names the row and what is wrong with it."""

    def __init__(self, where: str, message: str) -> None:
        super().__init__("InvalidCatalogue", message, field=where)


class InvalidSetting(InvalidInput):
    """A setting of the operator's process cannot be used; `variable` is the environment variable to correct."""

    def __init__(self, variable: str, message: str) -> None:
        super().__init__("InvalidSetting", message, field=variable)


class UsageError(InvalidInput):
    """Options of the command that say nothing usable, alone or together."""


class NotYet(OperatorError):
    """Something this depends on has not happened: try again soon."""


class OwnerGone(OperatorError):
    """The resource was deleted, or is another one of the same name: nothing may be written for it."""

    def __init__(self, namespace: str, name: str, uid: str) -> None:
        super().__init__("OwnerGone", f"LLMService {namespace}/{name} of UID {uid} is gone")


class Unavailable(OperatorError):
    """The API server or a source cannot be reached or is overloaded: back off and try again.

    `retry_after_seconds` is what the other side asked for; 0 when it did not say.
    """

    def __init__(self, reason: str, message: str, *, retry_after_seconds: float = 0.0) -> None:
        super().__init__(reason, message)
        self.retry_after_seconds = retry_after_seconds


class AnswerTooLarge(Unavailable):
    """An answer has more bytes than are ever read; what was read of it is gone."""

    def __init__(self, at_most: int) -> None:
        super().__init__(
            "AnswerTooLarge",
            f"the answer has more than {at_most // 2**20} MiB and was not read: no object of an API server is as "
            "large; is a proxy in between?",
        )


class TooMuch(Unavailable):
    """Somebody asks for more than their share, and is to wait."""


class Unauthorized(Unavailable):
    """The API server does not know the credentials (401). Tokens rotate: the next ones may be good."""


class Expired(Unavailable):
    """The resource version or continue token is too old (410): list again."""


class Silent(Unavailable):
    """A stream is open and says nothing: a dead connection, or nothing to say.

    Of a kind that never changed since it started, an API server of Kubernetes 1.34 sends no bookmarks either.
    """


class NotLeader(Unavailable):
    """This replica may not write, because another one leads or may lead by now."""

    def __init__(self) -> None:
        super().__init__("NotLeader", "this replica does not lead: nothing was written; the leader does it")


class Refused(OperatorError):
    """The API server understood a write and refused it (403, 422): retrying the same write cannot help soon."""


class NotFound(Refused):
    """There is no such object, namespace or kind (404)."""


class Terminating(Refused):
    """The namespace is being deleted: nothing new can be made in it (403), and nothing needs to be."""


class Conflict(OperatorError):
    """The object changed or is another one than expected (409): look again, then decide again."""


class NameTaken(Conflict):
    """Something of the name is there that was not known to be ours: to be looked at, and not written."""
