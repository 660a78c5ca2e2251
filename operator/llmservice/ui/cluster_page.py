"""The page for a cluster's users: each is shown what the API server shows to the token that came with the request.

It has no rights of its own and takes no cookie: a bearer token stands in the header Authorization, where the page's own
form or an authenticating proxy before it has put it. It goes to the API server and nowhere else: no log, no disk.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from aiohttp import web

from llmservice.controllers.endpoints.bearer_tokens import doubled_in, token_in
from llmservice.errors import NotFound, OperatorError, Refused, TooMuch, Unauthorized
from llmservice.ui import answers
from llmservice.ui.callers import Callers
from llmservice.ui.reading import Reader

_SHOWN_IN = ("Authorization",)
_UNKNOWN = "Show a bearer token that the cluster knows."
_Answer = Callable[[Reader, web.BaseRequest], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPage:
    """`callers` live in `loop`; requests are answered in the thread of the server."""

    callers: Callers
    loop: asyncio.AbstractEventLoop

    async def __call__(self, request: web.BaseRequest) -> web.Response:
        """The response, with what a browser has to know of it."""
        response = await self._answer(request)
        response.headers.update(answers.HEADERS)
        return response

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        match request.rel_url.raw_path.split("/"):
            case ["", "healthz"]:
                return web.Response(text="ok\n")
            case ["", "api", "services"]:
                return await self._data(request, request.query.get("namespace", ""), answers.services)
            case ["", "api", "services", namespace, name]:
                return await self._data(request, namespace, partial(_service, namespace, name))
            case ["", file]:
                return answers.file(file or answers.PAGE)
        return answers.said(404, "there is no such page")

    async def _data(self, request: web.BaseRequest, namespace: str, answer: _Answer) -> web.Response:
        if answers.comes_from_elsewhere(request):
            return answers.said(403, "another site may not ask this page")
        if doubled := doubled_in(request, _SHOWN_IN):
            return answers.said(400, doubled)
        token = token_in(request, _SHOWN_IN)
        if not token:
            return _unknown()
        if namespace and not answers.is_name(namespace):
            return answers.said(404, "no namespace is called so")
        try:
            return await self._asked(token, request, namespace, answer)
        except OperatorError as error:
            return _failure(error)

    async def _asked(self, token: str, request: web.BaseRequest, namespace: str, answer: _Answer) -> web.Response:
        """In the loop of the callers; who goes away leaves no question behind."""
        question = self.callers.ask(token, request.remote or "", namespace, lambda reader: answer(reader, request))
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(question, self.loop))


async def _service(namespace: str, name: str, reader: Reader, _: web.BaseRequest) -> web.Response:
    return await answers.service(reader, namespace, name)


def _failure(error: OperatorError) -> web.Response:
    if isinstance(error, Unauthorized):
        return _unknown()
    if isinstance(error, TooMuch):
        return answers.said(429, str(error))
    if isinstance(error, Refused):
        return answers.said(404 if isinstance(error, NotFound) else 403, str(error))
    return answers.said(502, str(error))


def _unknown() -> web.Response:
    """The same whether there was a token or not: nobody is told more."""
    response = answers.said(401, _UNKNOWN)
    response.headers["WWW-Authenticate"] = 'Bearer realm="llmservice"'
    return response
