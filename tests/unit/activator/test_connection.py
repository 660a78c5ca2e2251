"""What `connection.py` takes from inside aiohttp, which promises none of it."""

import ast
from pathlib import Path

import pytest
from aiohttp import web

from llmservice.activator import connection

RELIED_ON = {
    "_buffer_paused": "set while more lies here than is read",
    "_current_request": "the request that is being answered, None between two",
    "_loop": "the loop",
    "_messages": "requests that were read and wait for the one before",
    "_pause_reading_for_buffer": "stops reading, until `_resume_reading_if_drained` goes on",
    "_resume_reading_if_drained": "called as requests leave `_messages`",
    "_waiter": "a future while a connection waits for a request, else None",
}
"""Names and what a new release of aiohttp must keep of them. The tests of tests/activator try each."""

PUBLIC = ("connection_lost", "connection_made", "data_received", "handle_error", "pause_reading", "resume_reading")


def private_names() -> set[str]:
    """All `self._x` of the class that are not its own."""
    tree = ast.parse(Path(connection.__file__).read_text("utf-8"))
    (made,) = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    own = {
        *connection.ClientConnection.__slots__,
        *(each.name for each in made.body if isinstance(each, ast.FunctionDef)),
    }
    used = {
        each.attr
        for each in ast.walk(made)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }
    return {name for name in used if name.startswith("_")} - own


def test_what_is_relied_on_is_named_here() -> None:
    assert private_names() - {"_resume_reading_if_drained"} == RELIED_ON.keys() - {"_resume_reading_if_drained"}


@pytest.mark.parametrize("name", [*RELIED_ON, *PUBLIC])
def test_aiohttp_has_it_yet(name: str) -> None:
    assert hasattr(web.RequestHandler, name), RELIED_ON.get(name, "")
