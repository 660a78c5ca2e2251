"""From a client's request to its answer: refused, answered here, or held until a replica takes it."""

from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from llmservice.activator.asleep import answer_asleep
from llmservice.activator.connection import arrived, last, whole
from llmservice.activator.desk import Desk
from llmservice.activator.hall import Hall
from llmservice.activator.messages import buffered, checked
from llmservice.activator.refusals import Code, Refusal, refused
from llmservice.activator.sending import NotReached, Sender

_NOT_READ = {Code.NOT_UNDERSTOOD, Code.NOT_SUPPORTED}
"""Where the next request begins is anybody's guess then."""

_SEPARATORS = 4
"""Bytes between the name and the value of a header, and after it."""


@dataclass(frozen=True, slots=True)
class Answering:
    """Answers every request of every port."""

    hall: Hall
    sender: Sender

    async def answer(self, port: int, request: web.BaseRequest) -> web.StreamResponse:
        """The answer to a request that came to this port."""
        arrived(request)
        desk = self.hall.desks.get(port)
        try:
            head_bytes = _head_bytes(request)
            checked(request.method, request.rel_url.raw_path_qs, request.version, request.headers, head_bytes)
            desk = _there(desk)
            if desk.is_asleep and (answer := answer_asleep(desk.served, request.method, request.path)):
                return self._ending(desk, request, whole(answer))
            size = head_bytes + buffered(request.content_length, has_body=request.body_exists)
            return await self._hold(desk, request, size)
        except Refusal as refusal:
            start_seconds = desk.served.activation.start_seconds if desk else None
            response = whole(refused(refusal, start_seconds))
            goes_on = request.content.is_eof() and refusal.code not in _NOT_READ
            return self._ending(desk, request, response) if goes_on else last(response)

    async def _hold(self, desk: Desk, request: web.BaseRequest, size: int) -> web.StreamResponse:
        with self.hall.staying(desk, size) as stay:
            while True:
                replica = await stay.turn
                try:
                    response = await self.sender.send(
                        request,
                        replica,
                        lambda: self.hall.taken(stay),
                        closes=lambda: self._closes(desk, request),
                    )
                except NotReached:
                    desk.again(stay)
                else:
                    desk.answered += 1
                    return response

    def _ending(self, desk: Desk | None, request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
        return last(response) if desk is None or self._closes(desk, request) else response

    def _closes(self, desk: Desk, request: web.BaseRequest) -> bool:
        """Whether the client's next request should come another way.

        What follows an offer of another protocol too closely is lost by aiohttp 3.14: nobody may wait for its answer.
        """
        return self.hall.closing or desk.is_passed_by or "Upgrade" in request.headers


def _there(desk: Desk | None) -> Desk:
    if desk is None:
        raise Refusal(Code.ASLEEP, "no service is served here any more; try again")
    return desk


def _head_bytes(request: web.BaseRequest) -> int:
    named: Mapping[str, str] = request.headers
    return len(request.raw_path) + sum(len(name) + len(value) + _SEPARATORS for name, value in named.items())
