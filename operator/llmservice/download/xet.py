"""Files that a hub keeps in Xet: assembled from chunks by the hub's own client, from any position on.

The client takes gigabytes of buffers unless it is told otherwise, and tells its maker how it fared; here it takes some
hundreds of megabytes, and is silent. Addresses and answers: huggingface_hub, `utils/_xet.py`.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any

from yarl import URL

from llmservice.download.bandwidth import Bandwidth
from llmservice.download.source import PIECE, RemoteFile
from llmservice.download.threads import detached
from llmservice.inspection.hub_requests import HubRequests
from llmservice.models.plausible import json_object

SCHEMES = ("https",)
"""Of the store that a hub names. Anything else, such as a path on this machine, is not believed."""
XET_ERRORS = (OSError, RuntimeError, ValueError, KeyError, TypeError)
"""What the client and its answers end with; each of them leaves the other way."""
_MOST_TOKEN_BYTES = 2**16
_BUFFER = 64 * 2**20
_CONFIG: Mapping[str, Any] = {
    "client.retry_max_attempts": 3,
    "client.connect_timeout": "15s",
    "client.read_timeout": "60s",
    "reconstruction.download_buffer_size": _BUFFER,
    "reconstruction.download_buffer_perfile_size": _BUFFER // 4,
    "reconstruction.download_buffer_limit": 2 * _BUFFER,
    "reconstruction.min_prefetch_buffer": _BUFFER,
    "reconstruction.min_reconstruction_fetch_size": _BUFFER,
    "reconstruction.max_reconstruction_fetch_size": 4 * _BUFFER,
    "telemetry.enabled": False,
}


@dataclass(slots=True)
class Xet:
    """Reads files of one commit of a repository. Methods raise what the client raises: the caller has another way."""

    requests: HubRequests
    token_url: URL
    bandwidth: Bandwidth
    _group: Any = field(default=None, init=False)
    _connecting: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def chunks(self, file: RemoteFile, begin: int) -> AsyncGenerator[bytes, None]:
        """All bytes from `begin` on, in order."""
        # Only a download waits for this import.
        from hf_xet import XetFileInfo  # type: ignore[import-untyped]  # noqa: PLC0415

        group = await self._connected()
        stream = await detached(group.download_stream, XetFileInfo(file.xet, file.size), begin, None)
        try:
            while chunk := await detached(next, stream, b""):
                for at in range(0, len(chunk), PIECE):
                    piece = bytes(chunk[at : at + PIECE])
                    await self.bandwidth.take(len(piece))
                    yield piece
        finally:
            with contextlib.suppress(*XET_ERRORS):  # a thread may be reading from it
                stream.cancel()

    async def _connected(self) -> Any:
        async with self._connecting:
            if self._group is None:
                said = json_object(
                    await self.requests.get(self.token_url, "the token for Xet", size=_MOST_TOKEN_BYTES),
                    "the hub's answer",
                    _MOST_TOKEN_BYTES,
                )
                self._group = await detached(self._made, said)
        return self._group

    def _made(self, said: Mapping[str, Any]) -> Any:
        from hf_xet import XetConfig, XetSession  # noqa: PLC0415

        endpoint = str(said["casUrl"])
        if not endpoint.startswith(tuple(f"{scheme}://" for scheme in SCHEMES)):
            raise ValueError("the hub names a store that is not reached by https")
        return XetSession(XetConfig().with_config(dict(_CONFIG))).new_download_stream_group(
            endpoint=endpoint,
            token=str(said["accessToken"]),
            token_expiry_unix_secs=int(said["exp"]),
            token_refresh_url=str(self.token_url),
            token_refresh_headers=self.requests.access.headers_for(self.token_url),
        )
