"""A bench as a Job in the cluster, with the caller's rights: made, followed by its log, ended by Ctrl-C, deleted."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

from llmservice import __version__
from llmservice.bench.job import CONTAINER, GRACE_SECONDS
from llmservice.bench.transfer import Handed, Pieces
from llmservice.cli.bench_pod import SHOWN, PodOfJob, tell
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import Connection
from llmservice.errors import NotFound, OperatorError, Unavailable
from llmservice.objects.references import Manifest, ref_of, uid_of
from llmservice.untrusted.texts import in_a_line

_MANAGER = f"llmservice-bench/{__version__}"
_SILENCE_SECONDS = 900.0
_STOP_SECONDS = GRACE_SECONDS + 30.0
"""The grace of the pod, and what its log takes to come here."""
_PIECE_BYTES = 65_536
_LONGEST_LINE = 65_536
_ATTEMPTS = 20
"""To open the log again where the way to it breaks off: the Job goes on meanwhile."""


@dataclass(slots=True, kw_only=True)
class JobRun:
    """One Job, from its making to its result. `stop` ends it: what was measured by then is handed over."""

    connection: Connection
    job: Manifest
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    _pieces: Pieces = field(default_factory=Pieces)
    _shown: int = 0
    _is_begun: bool = False

    async def run(self) -> Handed | None:
        """What it handed over; None where it was stopped before it measured anything.

        Raises what the cluster refuses, and `Unavailable` for a bench that failed: it has said why.
        """
        server = ApiServer(self.connection)
        async with _made(server, self.job) as job:
            await self._until_its_end(server, job)
        handed = self._pieces.unpacked()
        if handed is None and not self.stop.is_set():
            said = "its last words are above" if self._shown else "it said nothing"
            raise Unavailable("JobFailed", f"{ref_of(self.job)} measured nothing: {said}")
        return handed

    async def _until_its_end(self, server: ApiServer, job: Manifest) -> None:
        """Follow its log; where it is to stop, for as long as its pod may take to hand over what was measured."""
        work = asyncio.create_task(self._followed(server, job))
        try:
            if not await self._ends_by_itself(work) and self._is_begun:
                tell("stopping: waiting for what was measured ...")
                await server.delete(ref_of(job), uid=uid_of(job))
                await asyncio.wait((work,), timeout=_STOP_SECONDS)
        finally:
            work.cancel()  # nothing happens to one that has ended
        failed = work.exception() if work.done() and not work.cancelled() else None
        if failed is not None and not self.stop.is_set():
            raise failed

    async def _ends_by_itself(self, work: asyncio.Task[None]) -> bool:
        """Whether it ends before it is to stop."""
        stopping = asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait((work, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
        return work.done()

    async def _followed(self, server: ApiServer, job: Manifest) -> None:
        pod = await PodOfJob(server=server, job=job).begun()
        self._is_begun = True
        for attempt in range(_ATTEMPTS):
            try:
                await self._read_log(pod)
            except NotFound:
                pass  # with the pod: nothing more will come
            except Unavailable as error:
                tell(f"the log broke off: {in_a_line(str(error), SHOWN)}; reading it again ...")
                await asyncio.sleep(min(10.0, 1.0 + attempt))
                continue
            return

    async def _read_log(self, pod: Manifest) -> None:
        """From its beginning, which may have been shown already, to its end."""
        target = f"{KINDS['Pod'].item(pod['metadata']['namespace'], pod['metadata']['name'], 'log')}"
        query, number, rest = urlencode({"container": CONTAINER, "follow": "true"}), 0, b""
        async with self.connection.stream(
            f"{target}?{query}", silence_seconds=_SILENCE_SECONDS, accept="*/*"
        ) as stream:
            while piece := await stream.read(_PIECE_BYTES):
                *lines, rest = (rest + piece).split(b"\n")
                for line in lines:
                    number += 1
                    self._take(line[:_LONGEST_LINE], number)
                rest = rest[:_LONGEST_LINE]
        self._take(rest, number + 1)

    def _take(self, line: bytes, number: int) -> None:
        text = line.decode(errors="replace")
        if self._pieces.take(text) or not text.strip() or number <= self._shown:
            return
        self._shown = number
        tell(in_a_line(text, SHOWN))


@asynccontextmanager
async def _made(server: ApiServer, job: Manifest) -> AsyncIterator[Manifest]:
    """The Job while the block lasts; it is deleted however the block ends, or else by its own time to live."""
    made = await server.post(job, manager=_MANAGER)
    tell(f"{ref_of(made)}: made")
    try:
        yield made
    finally:
        try:
            await server.delete(ref_of(made), uid=uid_of(made))
        except OperatorError as error:
            tell(f"{ref_of(made)} could not be deleted and ends by itself: {in_a_line(str(error), SHOWN)}")
