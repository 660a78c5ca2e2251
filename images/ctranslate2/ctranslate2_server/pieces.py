"""From generated tokens to pieces of text: whole characters, and nothing of a stop string."""

from collections.abc import Sequence

from tokenizers import Tokenizer

_INCOMPLETE = "\ufffd"
"""How a tokenizer shows bytes that are no character, or not yet."""
_LONGEST_CHARACTER = 4
"""Bytes, and so tokens at most: what is no character after these never becomes one."""


class Pieces:
    """The text of one answer as it comes. `stopped` turns true when a stop string has come: the text ends before it."""

    def __init__(self, tokenizer: Tokenizer, stop: Sequence[str]) -> None:
        self._characters = Characters(tokenizer)
        self._stop = tuple(stop)
        self._held = ""
        self.stopped = False

    def add(self, token_id: int) -> str:
        """The text that is certain after one more token."""
        return self._certain(self._characters.add(token_id))

    def rest(self) -> str:
        """What was held back, when no more tokens come."""
        certain = self._certain(self._characters.rest())
        return certain if self.stopped else certain + self._take(len(self._held))

    def _certain(self, text: str) -> str:
        if self.stopped:
            return ""
        self._held += text
        found = [place for stop in self._stop if (place := self._held.find(stop)) >= 0]
        if found:
            self.stopped = True
            return self._take(min(found))
        return self._take(len(self._held) - self._beginning_of_a_stop())

    def _take(self, length: int) -> str:
        taken, self._held = self._held[:length], self._held[length:]
        return taken

    def _beginning_of_a_stop(self) -> int:
        """How many characters at the end may be the beginning of a stop string."""
        longest = max(map(len, self._stop), default=1) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            if any(stop.startswith(self._held[-length:]) for stop in self._stop):
                return length
        return 0


class Characters:
    """Token by token, the characters that are complete.

    What a token stands for depends on the one before it (a space at the beginning, bytes of a character). So those
    of the last piece are decoded again with each new one, and the text that they had is cut off.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._before: list[int] = []
        self._new: list[int] = []

    def add(self, token_id: int) -> str:
        """The characters that one more token completes."""
        self._new.append(token_id)
        text = self._text()
        if not text or (text.endswith(_INCOMPLETE) and len(self._new) < _LONGEST_CHARACTER):
            return ""
        self._before, self._new = self._new, []
        return text

    def rest(self) -> str:
        """What is incomplete, when no more tokens come."""
        text, self._new = self._text(), []
        return text

    def _text(self) -> str:
        known = self._decoded(self._before)
        return self._decoded([*self._before, *self._new])[len(known) :]

    def _decoded(self, ids: list[int]) -> str:
        text: str = self._tokenizer.decode(ids, skip_special_tokens=True)
        return text
