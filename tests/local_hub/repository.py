"""Repositories of the local hub: what is in them, and who may read it."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

_PLAIN = (".json", ".txt", ".md", ".py", ".jinja")
"""Kept in Git; all others are kept as large files."""
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
    xet: dict[str, str] = field(default_factory=dict)
    """The hash in Xet of each file that is there."""

    def answer(self) -> dict[str, Any]:
        """What `/api/models/NAME/revision/REVISION?blobs=true` answers, as far as anybody reads it."""
        siblings = [self._sibling(name, data) for name, data in self.files.items()]
        return {"sha": COMMIT, "gated": self.gated or False, "siblings": siblings, "disabled": False, **self.more}

    def refs(self) -> dict[str, Any]:
        """What `/api/models/NAME/refs` answers."""
        return {"branches": [{"name": "main", "ref": "refs/heads/main", "targetCommit": COMMIT}], "tags": []}

    def tree(self) -> list[dict[str, Any]]:
        """What `/api/models/NAME/tree/REVISION?recursive=true` answers."""
        siblings = [self._sibling(name, data) for name, data in self.files.items()]
        return [
            {"type": "file", "path": each["rfilename"], "size": each["size"], "oid": each["blobId"], **_large(each)}
            for each in siblings
        ]

    def _sibling(self, name: str, data: bytes) -> dict[str, Any]:
        size = self.sizes.get(name, len(data))
        if name.endswith(_PLAIN):
            digest = hashlib.sha1(f"blob {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
            return {"rfilename": name, "size": size, "blobId": digest}
        large = {"sha256": hashlib.sha256(data).hexdigest(), "size": size, "pointerSize": 134}
        return {"rfilename": name, "size": size, "blobId": "b" * 40, "lfs": large}


def _large(sibling: dict[str, Any]) -> dict[str, Any]:
    return {"lfs": {"oid": sibling["lfs"]["sha256"], "size": sibling["size"]}} if "lfs" in sibling else {}


@dataclass(slots=True)
class Fault:
    """What happens, `times` over, to requests whose path holds `path`, in place of an answer.

    `cut` ends the body early; `seconds` is waited first; `endless` sends letters as long as somebody reads. `wrong`
    changes the first byte of the right answer, `after` breaks the connection after so many bytes of it.
    """

    path: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    times: int = 1_000_000
    seconds: float = 0.0
    cut: bool = False
    endless: bool = False
    wrong: bool = False
    after: int | None = None
