"""Who may read /metrics and /explain: by bearer token, as the API server judges it, remembered for a moment.

Tokens are kept nowhere: what is remembered goes by a keyed hash. Nobody can make the operator flood the API server:
the same question is asked once at a time, answers are kept, strangers are rationed by address and in all.
"""

import asyncio
import hmac
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from aiohttp import web

from llmservice.cluster.leadership.leader_proxy import TOKEN_HEADER
from llmservice.cluster.reviews import Question, Verdict
from llmservice.controllers.endpoints.bearer_tokens import doubled_in, token_in
from llmservice.controllers.endpoints.http_messages import as_json
from llmservice.errors import OperatorError
from llmservice.fairness.token_buckets import TokenBuckets

log = logging.getLogger(__name__)

_SHOWN_IN = (TOKEN_HEADER, "Authorization")
_KEPT_SECONDS = {True: 60.0, False: 10.0}
_GRACE_SECONDS = 600.0
_KEPT = 1024
_AT_ONCE, _WAITING = 8, 256
_MOST_ADDRESSES = 1024
_EVERYBODY = "everybody"
_BUSY = {"Retry_After": "5"}


class _Rationed(Exception):
    """Somebody asks too much."""


class Judge(Protocol):
    """`Reviews`."""

    async def verdict(self, token: str, question: Question) -> Verdict:
        """Who shows the token and whether they may. Raises `OperatorError` when that is not known."""
        ...


Key = tuple[bytes, Question]


@dataclass(slots=True, eq=False, kw_only=True)
class TokenGuard:
    """Belongs to one event loop. `judging` opens a connection to the judge, when it is first needed.

    A yes is good for 60 s and a no for 10 s, as with the API server's own webhooks. Yeses and noes are kept apart, at
    most 1,024 each, so that no flood of bad tokens displaces a good one; and who was let in before is not rationed.
    While the API server does not answer, a yes holds ten minutes longer: figures are wanted most when something fails.
    """

    judging: Callable[[], AbstractAsyncContextManager[Judge]]
    clock: Callable[[], float] = time.monotonic
    by_address: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=10, seconds=1.0, most_keys=_MOST_ADDRESSES)
    )
    in_all: TokenBuckets[str] = field(default_factory=lambda: TokenBuckets(burst=100, seconds=0.05))
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _kept: dict[bool, OrderedDict[Key, tuple[Verdict, float]]] = field(
        default_factory=lambda: {True: OrderedDict(), False: OrderedDict()}
    )
    _asked: dict[Key, asyncio.Task[Verdict]] = field(default_factory=dict)
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _judge: asyncio.Future[Judge] | None = None
    _keeping: asyncio.Task[None] | None = None

    async def refusal(self, request: web.BaseRequest, question: Question) -> web.Response | None:
        """None for those who may; else 400, 401, 403, 429 or 503 with the way out."""
        if doubled := doubled_in(request, _SHOWN_IN):
            return as_json(400, {"message": doubled})
        token = token_in(request, _SHOWN_IN)
        if not token:
            return _unknown("no bearer token was shown", question)
        key = (hmac.digest(self._secret, token.encode(), "sha256"), question)
        try:
            return _told_by(await self._verdict(key, token, request.remote or ""), question)
        except _Rationed:
            return as_json(429, {"message": "too many unknown tokens: try again in some seconds"}, **_BUSY)
        except OperatorError as error:
            if self._was_let_in(key):
                return None
            return as_json(503, {"message": f"the API server does not say who asks: {error}"}, **_BUSY)

    async def _verdict(self, key: Key, token: str, address: str) -> Verdict:
        """Remembered, or asked for. Raises `_Rationed`, `OperatorError`."""
        if verdict := self._remembered(key):
            return verdict
        if not self._may_ask(key, address):
            raise _Rationed
        return await self._judged(key, token)

    def _remembered(self, key: Key) -> Verdict | None:
        for kept in self._kept.values():
            if (found := kept.get(key)) and found[1] > self.clock():
                return found[0]
        return None

    def _was_let_in(self, key: Key) -> bool:
        _, until = self._kept[True].get(key, (None, float("-inf")))
        return until + _GRACE_SECONDS > self.clock()

    def _may_ask(self, key: Key, address: str) -> bool:
        """Who was let in before, or whose question is under way, takes no ration."""
        if key in self._kept[True] or key in self._asked:
            return True
        now = self.clock()
        return len(self._asked) < _WAITING and self.by_address.take(address, now) and self.in_all.take(_EVERYBODY, now)

    async def _judged(self, key: Key, token: str) -> Verdict:
        """One question for all who ask it at the same time; who gives up takes the answer from nobody else."""
        if key not in self._asked:
            self._asked[key] = asyncio.create_task(self._ask(key, token))
            self._asked[key].add_done_callback(lambda _: self._asked.pop(key))
        return await asyncio.shield(self._asked[key])

    async def _ask(self, key: Key, token: str) -> Verdict:
        async with self._free:
            verdict = await (await self._open()).verdict(token, key[1])
        self._kept[not verdict.allowed].pop(key, None)
        kept = self._kept[verdict.allowed]
        kept.pop(key, None)
        kept[key] = (verdict, self.clock() + _KEPT_SECONDS[verdict.allowed])
        if len(kept) > _KEPT:
            kept.popitem(last=False)
        return verdict

    async def _open(self) -> Judge:
        """The judge, opened once; again where that failed."""
        if self._judge is None or (self._judge.done() and self._judge.exception()):
            self._judge = asyncio.get_running_loop().create_future()
            self._keeping = asyncio.create_task(self._keep(self._judge))
        return await asyncio.shield(self._judge)

    async def _keep(self, opened: asyncio.Future[Judge]) -> None:
        """A task of its own closes what it opened when the loop ends."""
        try:
            async with self.judging() as judge:
                opened.set_result(judge)
                await asyncio.Event().wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)  # whatever it is: those who wait would wait for ever


def _told_by(verdict: Verdict, question: Question) -> web.Response | None:
    if verdict.allowed:
        return None
    if not verdict.user:
        return _unknown("the API server does not know this token (any more)", question)
    return as_json(403, {"message": f"{verdict.user} may not {question.words}: ask for a role that allows it"})


def _unknown(why: str, question: Question) -> web.Response:
    message = f"{why}: send 'Authorization: Bearer TOKEN' of somebody who may {question.words}"
    return as_json(401, {"message": message}, WWW_Authenticate='Bearer realm="llmservice"')
