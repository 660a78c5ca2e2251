"""Repositories of the local hub: what is in them, and who may read it."""

from dataclasses import dataclass, field
from typing import Any

COMMIT = "0e9e39f249a16976918f6564b8830bc894c89659"


@dataclass(slots=True)
class Repository:
    """`sizes` are told in place of the real ones; `token` is the one that may read, where not everybody may."""

    files: dict[str, bytes]
    sizes: dict[str, int] = field(default_factory=dict)
    revisions: tuple[str, ...] = ("main", COMMIT)
    gated: str = ""
    private: bool = False
    token: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def answer(self) -> dict[str, Any]:
        """What `/api/models/NAME/revision/REVISION?blobs=true` answers, as far as anybody reads it."""
        siblings = [
            {"rfilename": name, "size": self.sizes.get(name, len(data)), "blobId": "b" * 40}
            for name, data in self.files.items()
        ]
        return {"sha": COMMIT, "gated": self.gated or False, "siblings": siblings, "disabled": False, **self.more}


@dataclass(slots=True)
class Fault:
    """What happens, `times` over, to requests whose path holds `path`, in place of an answer.

    `cut` ends the body early; `seconds` is waited first; `endless` sends letters as long as somebody reads.
    """

    path: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    times: int = 1_000_000
    seconds: float = 0.0
    cut: bool = False
    endless: bool = False
