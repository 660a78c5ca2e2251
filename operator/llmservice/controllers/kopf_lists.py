"""When does kopf list? After a relist it reports what is there and keeps quiet about what vanished (kopf issue 870)."""

from collections.abc import Callable
from types import SimpleNamespace

import aiohttp

from llmservice.cluster.kinds import KINDS

_PATH_END = f"/{KINDS['LLMService'].plural}"


def tell_of_lists(session: aiohttp.ClientSession, tell: Callable[[], None]) -> None:
    """Call `tell` each time the session begins to list LLMServices; pages after the first do not count."""

    async def on_start(_: aiohttp.ClientSession, __: SimpleNamespace, request: aiohttp.TraceRequestStartParams) -> None:
        url = request.url
        if request.method == "GET" and url.path.endswith(_PATH_END) and not {"watch", "continue"} & url.query.keys():
            tell()

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(on_start)
    trace.freeze()
    session.trace_configs.append(trace)
