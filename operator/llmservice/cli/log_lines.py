"""A log as it arrives, made fit to be shown: whole lines, printable, without what looks like a credential or a prompt.

Redaction is the operator's. It looks at a text at once; a log comes in pieces, so a private key that one piece begins
hides everything up to the line that ends it.
"""

from dataclasses import dataclass

from llmservice.converging.redaction import LONGEST_TEXT, redacted
from llmservice.untrusted.patterns import compiled

LONGEST_LINE = 16_384
"""In characters; of a longer line the rest is left out."""

_BEGIN, _END = "-----BEGIN ", "-----END "
_KEY = compiled(r"\A[A-Z0-9 ]*PRIVATE KEY")


def redacted_text(text: str) -> str:
    """A whole text, of any length."""
    lines = Lines()
    return lines.take(text.encode()) + lines.rest()


@dataclass(slots=True)
class Lines:
    """The pieces of one log, in their order."""

    _left: bytes = b""
    _in_key: bool = False

    def take(self, piece: bytes) -> str:
        """The lines that are complete with this piece, each with its end."""
        whole, end, self._left = (self._left + piece).rpartition(b"\n")
        if len(self._left) > LONGEST_TEXT:
            whole, end, self._left = whole + end + self._left, b"\n", b""
        return self._shown(whole) if end else ""

    def rest(self) -> str:
        """What is left when the log has ended without the end of a line."""
        left, self._left = self._left, b""
        return self._shown(left) if left else ""

    def _shown(self, whole: bytes) -> str:
        lines = whole.decode(errors="replace").split("\n")
        parts: list[list[str]] = [[]]
        size = 0
        for line in lines:
            if size + len(line) > LONGEST_TEXT:
                parts, size = [*parts, []], 0
            parts[-1].append(line[:LONGEST_LINE] + ("… (cut)" if len(line) > LONGEST_LINE else ""))
            size += len(parts[-1][-1]) + 1
        return "".join(self._part("\n".join(part)) for part in parts if part)

    def _part(self, text: str) -> str:
        """A part that is scanned at once; nothing of it while a key goes on."""
        if self._in_key:
            _, ended, rest = text.partition(_END)
            text = rest.partition("\n")[2]
            self._in_key = not ended
        _, begun, tail = text.rpartition(_BEGIN)
        self._in_key = self._in_key or bool(begun and _KEY.is_in(tail) and _END not in tail)
        return f"{redacted(text, 2 * LONGEST_TEXT)}\n" if text else ""
