"""The bearer token of a request (RFC 6750, section 2.1)."""

import string
from collections.abc import Sequence

from aiohttp import web

_OF_TOKENS = frozenset(string.ascii_letters + string.digits + "._~+/=-")


def token_in(request: web.BaseRequest, headers: Sequence[str]) -> str:
    """The token in the first of these headers that has a value; empty when that is none of the right form."""
    shown = next((value for name in headers if (value := request.headers.get(name))), "")
    scheme, _, token = shown.partition(" ")
    return token if scheme.lower() == "bearer" and token and _OF_TOKENS.issuperset(token) else ""


def doubled_in(request: web.BaseRequest, headers: Sequence[str]) -> str:
    """What to say where one of these headers is given twice; empty where none is."""
    name = next((name for name in headers if len(request.headers.getall(name, ())) > 1), "")
    return f"{name} is given twice: of two tokens nobody knows which is meant" if name else ""
