"""Answers of our own as aiohttp writes them."""

from aiohttp import web

from llmservice.activator.refusals import Answer


def whole(answer: Answer) -> web.Response:
    """An answer of our own, for aiohttp."""
    return web.Response(status=answer.status, body=answer.body, headers={**answer.headers, "Server": "llmservice"})


def last(response: web.StreamResponse) -> web.StreamResponse:
    """The connection ends with this answer."""
    response.force_close()
    return response
