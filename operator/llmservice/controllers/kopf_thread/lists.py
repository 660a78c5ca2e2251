"""When does kopf list? After a relist it reports what is there and keeps quiet about what vanished (kopf issue 870)."""

from collections.abc import Callable
from types import SimpleNamespace

import aiohttp

from llmservice.cluster.kinds import KINDS

_PATH_END = f"/{KINDS['LLMService'].plural}"


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
