"""Answers in OpenAI's shapes: whole, and as server-sent events."""

import json
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ctranslate2_server.generation import Progress

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers to one request: of a chat, or of a completion."""

    model: str
    chat: bool
    identity: str = field(default_factory=lambda: secrets.token_hex(12))
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, progress: Progress) -> dict[str, Any]:
        """The answer in one piece."""
        content: dict[str, Any] = {"message": {"role": "assistant", "content": text}} if self.chat else {"text": text}
        choice = {"index": 0, **content, "logprobs": None, "finish_reason": progress.reason}
        return self._document("chat.completion", [choice], usage(progress))

    def first(self) -> bytes:
        """The event that begins a chat's stream; a completion's has none."""
        return self._event({"role": "assistant", "content": ""}) if self.chat else b""

    def piece(self, text: str) -> bytes:
        """The event of a piece of text."""
        return self._event({"content": text} if self.chat else text)

    def last(self, progress: Progress) -> bytes:
        """The event that says how it ended."""
        return self._event({} if self.chat else "", progress.reason)

    def used(self, progress: Progress) -> bytes:
        """The event with the counts, for who asked for it."""
        return event(self._document(self._chunk, [], usage(progress)))

    @property
    def _chunk(self) -> str:
        return "chat.completion.chunk"

    def _event(self, content: object, reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta" if self.chat else "text": content, "finish_reason": reason}
        return event(self._document(self._chunk, [choice]))

    def _document(self, kind: str, choices: list[Any], used: Mapping[str, int] | None = None) -> dict[str, Any]:
        return {
            "id": f"{'chatcmpl' if self.chat else 'cmpl'}-{self.identity}",
            "object": kind if self.chat else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            **({"usage": used} if used else {}),
        }


def usage(progress: Progress) -> dict[str, int]:
    """The counts of an answer."""
    return {
        "prompt_tokens": progress.prompt_tokens,
        "completion_tokens": progress.generated_tokens,
        "total_tokens": progress.prompt_tokens + progress.generated_tokens,
    }


def event(document: Mapping[str, Any]) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(document, ensure_ascii=False)}\n\n".encode()
