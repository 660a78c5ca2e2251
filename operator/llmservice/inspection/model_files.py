"""A model's files, wherever they are: what there is, and a bounded part of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.untrusted.texts import cut, printable

MOST_FILES = 10_000
LONGEST_NAME = 512
_LONGEST_MESSAGE = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What there is: the bytes of each file by its path, and what a hub tells beside that.

    `revision` is the commit, `values` how many values of each type the safetensors files hold, `pipeline` the Hub's
    word for the task.
    """

    sizes: Mapping[str, int]
    revision: str = ""
    gated: bool | None = None
    values: Mapping[str, int] = field(default_factory=dict)
    pipeline: str = ""


class ModelFiles(Protocol):
    """Where a model is read from. Both methods raise InspectionFailed."""

    async def listing(self) -> Listing:
        """Every file; called once, before any is read."""
        ...

    async def read(self, name: str, begin: int, size: int) -> bytes:
        """So many bytes of a file from `begin` on; fewer where it ends."""
        ...


class InspectionFailed(Exception):
    """Leaves this package as the value that it carries. The message may quote what strangers wrote.

    `status` is that of the answer which it stands for; 0 for none.
    """

    def __init__(self, reason: FailureReason, message: str, status: int = 0) -> None:
        self.status = status
        self.failure = InspectionFailure(reason, cut(printable(message), _LONGEST_MESSAGE))
        super().__init__(self.failure.message)


async def read_whole(files: ModelFiles, name: str, at_most: int) -> bytes:
    """A small file; raises InspectionFailed when it is larger than this."""
    data = await files.read(name, 0, at_most + 1)
    if len(data) > at_most:
        raise InspectionFailed(FailureReason.TOO_LARGE, f"{name} has more than {at_most} bytes, which are not read")
    return data
