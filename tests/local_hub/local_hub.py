"""A server on this machine that speaks the Hub's API, for tests: the real one cannot be asked to fail.

Addresses, status codes and headers are those that huggingface_hub reads (`hf_api.py`, `utils/_http.py`), and llama.cpp
(`common/hf-cache.cpp`, which lists files by `refs` and `tree` and does not ask who may read them here). Large files
are redirected to a second server with a signed address, as the real hub does.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.in_a_thread import in_a_thread
from tests.local_hub.repository import Fault, Repository

_SIGNATURE = "signature=secret%2Fof%3Dthe+address"
_ERROR = "X-Error-Code"
_CHUNK = 2**17


@dataclass(frozen=True, slots=True)
class Seen:
    """One request: at the hub itself, or at the server that its redirects lead to."""

    at: str
    path: str
    authorization: str
    range: str


@dataclass(slots=True)
class LocalHub:
    """What it has, what goes wrong, and what it was asked. Made by `local_hub`."""

    repositories: dict[str, Repository]
    faults: list[Fault] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    knows_ranges: bool = True
    served: int = 0
    """Bytes of files that were sent."""
    bytes_per_second: float = 0.0
    """Of each answer with a file; 0: as fast as it goes."""
    expires_after: int | None = None
    """How often the address of a redirect may be used; None: always."""
    redirects: bool = True
    """False: large files come from the hub itself. llama.cpp does not repeat a signed address to the letter."""
    uses: list[int] = field(default_factory=list)
    xet_store: str = ""
    """Where files are that Xet has; without one no file is in Xet."""
    url: str = ""
    other_url: str = ""

    def asked(self, at: str) -> list[Seen]:
        """The requests that came to `hub` or `other`."""
        return [each for each in self.seen if each.at == at]

    async def at_hub(self, request: web.Request) -> web.StreamResponse:
        """Everything that comes to the hub itself."""
        self._note("hub", request)
        fault = self._fault(request.raw_path)
        if fault and not _is_of_body(fault):
            return await _failed(request, fault)
        found = self._found(request.path)
        if isinstance(found, web.Response):
            return found
        repository, revision, file = found
        if refused := _refused(request, repository, revision, file):
            return refused
        if not file:
            return web.json_response(repository.answer())
        if file.endswith(".json") or not self.redirects:
            return await self._part(request, repository.files[file], fault)
        return self._redirected(request, repository.xet.get(file, ""))

    def _redirected(self, request: web.Request, in_xet: str) -> web.Response:
        signed = len(self.uses)
        self.uses.append(0)
        address = f"{self.other_url}/{request.path.lstrip('/')}?number={signed}&{_SIGNATURE}"
        told = {"X-Xet-Hash": in_xet} if self.xet_store and in_xet else {}
        return web.Response(status=302, headers={"Location": address, **told})

    async def at_other(self, request: web.Request) -> web.StreamResponse:
        """What a redirect led to: the address must be as it was given, to the letter."""
        self._note("other", request)
        fault = self._fault(f"other{request.raw_path}")
        if fault and not _is_of_body(fault):
            return await _failed(request, fault)
        if not request.raw_path.endswith(_SIGNATURE):
            return web.Response(status=403)
        number = int(request.query["number"])
        self.uses[number] += 1
        if self.expires_after is not None and self.uses[number] > self.expires_after:
            return web.Response(status=403)
        found = self._found(request.path)
        if isinstance(found, web.Response):
            return found
        return await self._part(request, found[0].files[found[2]], fault)

    def _note(self, at: str, request: web.Request) -> None:
        headers = request.headers
        self.seen.append(Seen(at, request.raw_path, headers.get("Authorization", ""), headers.get("Range", "")))

    def _fault(self, path: str) -> Fault | None:
        for fault in self.faults:
            if fault.path in path and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def _found(self, path: str) -> tuple[Repository, str, str] | web.Response:
        """The repository, revision and file of a path, empty for the list of files; else the answer."""
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and parts[4:5] == ["revision"]:
            name, revision, file = "/".join(parts[2:4]), "/".join(parts[5:]), ""
        elif parts[2:3] == ["resolve"]:
            name, revision, file = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        elif parts[4:5] == ["xet-read-token"]:
            return web.json_response({"casUrl": self.xet_store, "accessToken": "a-token", "exp": 2**40})
        elif parts[4:5] in (["refs"], ["tree"]) and (listed := self.repositories.get("/".join(parts[2:4]))):
            return web.json_response(listed.refs() if parts[4] == "refs" else listed.tree())
        else:
            return web.Response(status=404)
        repository = self.repositories.get(name)
        return (repository, revision, file) if repository else web.Response(status=401)

    async def _part(self, request: web.Request, data: bytes, fault: Fault | None = None) -> web.StreamResponse:
        asked = request.http_range
        if not self.knows_ranges or asked.start is None:
            return await self._sent(request, web.StreamResponse(), memoryview(data), fault)
        begin, end = asked.start, min(asked.stop or len(data), len(data))
        if begin >= len(data):
            return web.Response(status=416)
        headers = {"Content-Range": f"bytes {begin}-{end - 1}/{len(data)}"}
        response = web.StreamResponse(status=206, headers=headers)
        return await self._sent(request, response, memoryview(data)[begin:end], fault)

    async def _sent(
        self, request: web.Request, response: web.StreamResponse, body: memoryview, fault: Fault | None
    ) -> web.StreamResponse:
        """The body as it is, or as the fault makes it; counted as it leaves."""
        response.content_length = len(body)
        await response.prepare(request)
        if fault and fault.wrong:
            body = memoryview(bytes([body[0] ^ 0xFF]) + body[1:])
        for at in range(0, len(body), _CHUNK):
            if fault and fault.after is not None and at >= fault.after:
                if request.transport:
                    request.transport.close()  # after what was written: an abort may lose it
                break
            try:
                await response.write(body[at : at + _CHUNK])
            except ConnectionError:  # who asked is gone
                break
            self.served += len(body[at : at + _CHUNK])
            if self.bytes_per_second:
                await asyncio.sleep(_CHUNK / self.bytes_per_second)
        return response


def _is_of_body(fault: Fault) -> bool:
    """Whether the right answer is sent, but not as it is."""
    return fault.wrong or fault.after is not None


def _refused(request: web.Request, repository: Repository, revision: str, file: str) -> web.Response | None:
    """As the hub refuses: a private repository is unknown to strangers, of a gated one only the files are kept."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    may_read = not repository.token or given == repository.token
    if given.startswith("wrong"):
        return web.Response(status=401, headers={"X-Error-Message": "Invalid credentials in Authorization header"})
    if repository.private and not may_read:
        return web.Response(status=404 if given else 401, headers={_ERROR: "RepoNotFound"})
    if revision not in repository.revisions:
        return web.Response(status=404, headers={_ERROR: "RevisionNotFound"})
    if file and repository.gated and not may_read:
        return web.Response(status=403 if given else 401, headers={_ERROR: "GatedRepo"})
    if file and file not in repository.files:
        return web.Response(status=404, headers={_ERROR: "EntryNotFound"})
    return None


async def _failed(request: web.Request, fault: Fault) -> web.StreamResponse:
    await asyncio.sleep(fault.seconds)
    if not (fault.cut or fault.endless):
        return web.Response(status=fault.status, headers=fault.headers, body=fault.body)
    response = web.StreamResponse(status=fault.status, headers=fault.headers)
    if fault.cut:
        response.content_length = len(fault.body) + 1000
    await response.prepare(request)
    await response.write(fault.body)
    while fault.endless:
        await response.write(b"[" * 2**16)
    if request.transport:
        request.transport.abort()
    return response


@contextmanager
def local_hub(
    repositories: dict[str, Repository], tls: ssl.SSLContext | None = None, *, host: str = "127.0.0.1"
) -> Iterator[LocalHub]:
    """The hub in a thread of its own, at an address of this machine, as long as the block runs."""
    hub = LocalHub(repositories)
    with in_a_thread(_served(hub, tls, host)):
        yield hub


@asynccontextmanager
async def _served(hub: LocalHub, tls: ssl.SSLContext | None, host: str) -> AsyncIterator[None]:
    scheme = "https" if tls else "http"
    runners = []
    for handler in (hub.at_hub, hub.at_other):
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, host, 0, ssl_context=tls).start()
        runners.append(runner)
    hub.url, hub.other_url = (f"{scheme}://{host}:{runner.addresses[0][1]}" for runner in runners)
    try:
        yield
    finally:
        for runner in runners:
            await runner.cleanup()
