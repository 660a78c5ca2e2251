"""How kopf reaches the API server: with our credentials, read again per request, over a session of its own.

The session also tells when kopf lists: after a relist kopf reports what is there, not what vanished (kopf issue 870).
"""

from collections.abc import Callable
from types import SimpleNamespace

import aiohttp
import kopf

from llmservice.cluster.kinds import KINDS
from llmservice.cluster.transport.connection import connect
from llmservice.cluster.transport.credentials import Credentials, load_credentials
from llmservice.controllers.kopf_thread.pages import BoundedResponse, PagesByBytes
from llmservice.errors import OperatorError

_PATH_END = f"/{KINDS['LLMService'].plural}"


async def log_in(context: str) -> kopf.AiohttpSession:
    """A session for kopf; kopf closes it. Raises `kopf.TemporaryError` when there are no credentials now."""
    try:
        credentials = await load_credentials(context=context)
    except OperatorError as error:
        raise kopf.TemporaryError(str(error), delay=5) from error
    session = aiohttp.ClientSession(
        # Each namespace is a stream that keeps its connection: with a bound some would wait for ever.
        connector=aiohttp.TCPConnector(limit=0, ssl=credentials.tls),
        proxy=credentials.proxy,
        middlewares=(_Authorized(credentials), PagesByBytes()),
        response_class=BoundedResponse,
    )
    return kopf.AiohttpSession(aiohttp_session=session, server=credentials.server)


class _Authorized:
    """Adds the Authorization header of this minute, and the name that the server's certificate is for, to each request.

    A session has no setting for that name.
    """

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        request.server_hostname = self._credentials.server_hostname
        if token := await self._credentials.authorization():
            request.headers["Authorization"] = token
        response = await handler(request)
        if response.status == 401:  # noqa: PLR2004
            await self._credentials.rejected(token)
        return response


async def is_served(context: str) -> bool:
    """Whether the API server knows LLMServices; false when it cannot be asked."""
    kind = KINDS["LLMService"]
    try:
        async with connect(await load_credentials(context=context)) as connection:
            discovered = await connection.call("GET", f"/apis/{kind.api_version}")
    except OperatorError:
        return False
    return any(resource.get("name") == kind.plural for resource in discovered.get("resources") or ())


def tell_of_lists(session: aiohttp.ClientSession, tell: Callable[[], None]) -> None:
    """Call `tell` each time the session was let list LLMServices; pages after the first do not count.

    A list that is refused changes nothing, and kopf tries it every few seconds.
    """

    async def on_end(_: aiohttp.ClientSession, __: SimpleNamespace, request: aiohttp.TraceRequestEndParams) -> None:
        url, is_list = request.url, request.method == "GET" and request.url.path.endswith(_PATH_END)
        if is_list and request.response.ok and not {"watch", "continue"} & url.query.keys():
            tell()

    trace = aiohttp.TraceConfig()
    trace.on_request_end.append(on_end)
    trace.freeze()
    session.trace_configs.append(trace)
