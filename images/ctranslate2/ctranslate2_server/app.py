"""The HTTP interface: routes, and what each answers."""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ctranslate2_server.answers import DONE, Answers, event
from ctranslate2_server.asked import Asked, asked_in
from ctranslate2_server.errors import Refused, TooLarge
from ctranslate2_server.generation import Generation
from ctranslate2_server.server_state import ServerState

_LOG = logging.getLogger(__name__)
_CLIENT_CLOSED = 499


def app_of(state: ServerState, lifespan: Any = None) -> Starlette:
    """The application; `lifespan` is Starlette's."""
    served = Served(state)
    routes = [
        Route("/v1/chat/completions", served.chat, methods=["POST"]),
        Route("/v1/completions", served.completion, methods=["POST"]),
        Route("/v1/models", served.models),
        Route("/health", served.health),
        Route("/metrics", served.metrics),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={Refused: served.refused})


class Served:
    """The answers to requests."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    async def chat(self, request: Request) -> Response:
        """POST /v1/chat/completions."""
        return await self._answer(request, chat=True)

    async def completion(self, request: Request) -> Response:
        """POST /v1/completions."""
        return await self._answer(request, chat=False)

    async def models(self, _request: Request) -> Response:
        """GET /v1/models."""
        entry = {"object": "model", "created": self._state.began, "owned_by": "ctranslate2"}
        data = [{"id": name, **entry, "max_model_len": self._state.context} for name in self._state.names]
        return JSONResponse({"object": "list", "data": data})

    async def health(self, _request: Request) -> Response:
        """GET /health: 200 when requests are served, 503 before."""
        self._state.engine  # noqa: B018  (raises NotReady)
        return JSONResponse({"status": "ok"})

    async def metrics(self, _request: Request) -> Response:
        """GET /metrics."""
        return Response(self._state.metrics.page(), media_type=CONTENT_TYPE_LATEST)

    async def refused(self, _request: Request, error: Exception) -> Response:
        """The answer to what is not served."""
        assert isinstance(error, Refused)  # noqa: S101  (Starlette calls it for nothing else)
        self._state.metrics.rejected.labels(error.status).inc()
        return JSONResponse(error.document(), error.status, error.headers)

    async def _answer(self, request: Request, *, chat: bool) -> Response:
        engine = self._state.engine
        try:
            content = await _body(request, self._state.max_body_bytes)
        except ClientDisconnect:
            return Response(status_code=_CLIENT_CLOSED)
        asked = asked_in(content, self._state.names, chat=chat)
        generation = Generation(asked, engine, self._state.metrics)
        answers = Answers(model=asked.model, chat=chat)
        if asked.stream:
            return await _unless_gone(request, lambda: self._streamed(asked, generation, answers))
        return await _unless_gone(request, lambda: self._whole(generation, answers))

    async def _whole(self, generation: Generation, answers: Answers) -> Response:
        async with aclosing(generation.pieces(self._state.places)) as pieces:
            text = "".join([piece async for piece in pieces])
        return JSONResponse(answers.whole(text, generation.progress))

    async def _streamed(self, asked: Asked, generation: Generation, answers: Answers) -> Response:
        """Who finds no place is told by the status: the answer begins with the first token."""
        pieces = generation.pieces(self._state.places)
        first = await anext(pieces, None)
        events = _events(first, pieces, asked, generation, answers)
        return StreamingResponse(events, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})


async def _events(
    first: str | None, pieces: AsyncGenerator[str, None], asked: Asked, generation: Generation, answers: Answers
) -> AsyncIterator[bytes]:
    async with aclosing(pieces):
        if opening := answers.first():
            yield opening
        if first:
            yield answers.piece(first)
        try:
            async for piece in pieces:
                if piece:
                    yield answers.piece(piece)
        except Exception as error:  # noqa: BLE001  (whatever it is, the client is owed a word)
            _LOG.exception("a generation failed")
            yield event({"error": {"message": str(error), "type": "server_error", "param": None, "code": 500}})
            return
    yield answers.last(generation.progress)
    if asked.include_usage:
        yield answers.used(generation.progress)
    yield DONE


async def _body(request: Request, most: int) -> bytes:
    """The body, read no further than allowed; raises TooLarge."""
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > most:
            raise TooLarge(f"the body has more than {most} bytes")
    return bytes(content)


async def _unless_gone(request: Request, answer: Callable[[], Awaitable[Response]]) -> Response:
    """The answer; cancelled when the client hangs up, who would not read it."""
    working, gone = asyncio.ensure_future(answer()), asyncio.create_task(_hung_up(request))
    try:
        await asyncio.wait((working, gone), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        return Response(status_code=_CLIENT_CLOSED)
    finally:
        for task in (working, gone):
            task.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
