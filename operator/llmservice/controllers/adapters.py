"""The loading of adapters of this process: its parts put together."""

from llmservice.engines.engine import PORT
from llmservice.reconcilers.adapter_loading import AdapterLoading
from llmservice.signals.engine_requests import EngineAnswer, get_page, post_json


def adapter_loading() -> AdapterLoading:
    """Over HTTP, at the port of every engine."""
    return AdapterLoading(get_page=_page, post_json=_posted)


async def _page(address: str, path: str) -> EngineAnswer:
    return await get_page(address, PORT, path)


async def _posted(address: str, path: str, body: bytes) -> EngineAnswer:
    return await post_json(address, PORT, path, body)
