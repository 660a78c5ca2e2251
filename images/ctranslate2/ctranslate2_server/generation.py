"""One answer from the first token to the last: its text in pieces, how it ended, and what is counted of it."""

import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from ctranslate2_server.asked import Asked
from ctranslate2_server.engine import Engine
from ctranslate2_server.errors import BadRequest
from ctranslate2_server.metrics import Metrics
from ctranslate2_server.pieces import Pieces
from ctranslate2_server.places import Places

_USUAL_TOKENS = 1024
"""Tokens of an answer where neither the request nor the context says how many."""
_MOST_TOKENS = 1_000_000
_CANCELLED = "cancelled"


@dataclass(slots=True, kw_only=True)
class Progress:
    """How far an answer is. `reason` is OpenAI's `finish_reason` once it has ended: `stop` or `length`."""

    prompt_tokens: int
    generated_tokens: int = 0
    reason: str = ""


class Generation:
    """One request on its way through the queue and the engine. Times are seconds of `now`."""

    def __init__(
        self, asked: Asked, engine: Engine, metrics: Metrics, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Raises BadRequest where the prompt leaves no room for an answer."""
        self._asked, self._engine, self._metrics, self._now = asked, engine, metrics, now
        self._began = self._last = now()
        self._tokens = engine.prompts.tokens(asked)
        self._most = room(len(self._tokens), asked, engine.context)
        self.progress = Progress(prompt_tokens=len(self._tokens))

    async def pieces(self, places: Places) -> AsyncGenerator[str, None]:
        """The text as it comes; raises Busy before the first piece. Closing the iterator cancels the request."""
        async with places.place():
            self._metrics.prompt_tokens.inc(len(self._tokens))
            try:
                async with aclosing(self._texts()) as texts:
                    async for text in texts:
                        yield text
                self._metrics.request.observe(self._now() - self._began)
            finally:
                self._metrics.finished.labels(self.progress.reason or _CANCELLED).inc()

    async def _texts(self) -> AsyncGenerator[str, None]:
        pieces = Pieces(self._engine.tokenizer, self._asked.stop)
        ids = self._engine.token_ids(self._tokens, self._asked, self._most)
        async with aclosing(ids):
            async for token_id in ids:
                self._count()
                yield pieces.add(token_id)
                if pieces.stopped:
                    break
        self.progress.reason = self._reason(stopped=pieces.stopped)
        if rest := pieces.rest():
            yield rest

    def _reason(self, *, stopped: bool) -> str:
        return "length" if self.progress.generated_tokens >= self._most and not stopped else "stop"

    def _count(self) -> None:
        now, first = self._now(), self.progress.generated_tokens == 0
        (self._metrics.first_token if first else self._metrics.inter_token).observe(now - self._last)
        self._last = now
        self.progress.generated_tokens += 1
        self._metrics.generated_tokens.inc()


def room(prompt_tokens: int, asked: Asked, context: int) -> int:
    """Tokens that the answer may have; raises BadRequest. A context of 0 has no end."""
    if prompt_tokens == 0:
        raise BadRequest("the prompt has no tokens", _prompt_field(asked))
    if not context:
        return min(asked.max_tokens or _USUAL_TOKENS, _MOST_TOKENS)
    left = context - prompt_tokens
    if left < 1:
        message = f"has {prompt_tokens} tokens, and the context is {context} for prompt and answer together"
        raise BadRequest(message, _prompt_field(asked))
    if asked.max_tokens > left:
        raise BadRequest(
            f"{asked.max_tokens} and {prompt_tokens} of the prompt exceed the context of {context}", "max_tokens"
        )
    return asked.max_tokens or left


def _prompt_field(asked: Asked) -> str:
    return "messages" if asked.messages else "prompt"
