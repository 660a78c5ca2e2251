"""The files of a download, of all that there are; where their names leave a doubt the index is read."""

from collections.abc import Collection
from contextlib import aclosing

from llmservice.download.failing import failed
from llmservice.download.source import NOT_TOLD, Remote, RemoteFile, Source
from llmservice.models.download_answer import is_path_part
from llmservice.models.download_choice import ADAPTER, ADAPTER_CONFIG, GGUF, SAFETENSORS, chosen_files
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.models.download_layout import named_file
from llmservice.models.download_request import DownloadRequest
from llmservice.models.gguf_choice import NoSuchGguf
from llmservice.models.plausible import MalformedModel
from llmservice.models.weight_files import INDEX, MOST_INDEX_BYTES, indexed_files, needs_index


async def chosen(source: Source, remote: Remote, request: DownloadRequest) -> list[RemoteFile]:
    """The files to download, what the engine loads first; raises DownloadFailed."""
    sizes = remote.sizes
    try:
        indexed = await _indexed(source, remote) if request.format == SAFETENSORS and needs_index(sizes) else ()
        file = request.file or named_file(request.uri)
        names = chosen_files(sizes, request.format, file=file, quantization=request.quantization, indexed=indexed)
    except NoSuchGguf as error:
        raise failed(DownloadFailureReason.FILE_MISSING, str(error)) from error
    if not names:
        wanted = (
            f"an adapter ({ADAPTER_CONFIG} and its weights)" if request.format == ADAPTER else "weights in safetensors"
        )
        message = f"none of the {len(sizes)} files there holds {wanted}"
        raise failed(DownloadFailureReason.NOT_A_MODEL, message)
    if NOT_TOLD in {sizes[name] for name in names}:  # it would be an empty file, and right
        message = f"{request.uri}: the hub or mirror does not tell the sizes of its files"
        raise failed(DownloadFailureReason.NO_ROUTE, message)
    if request.format == GGUF and not is_path_part(names[0]):
        message = f"the name of {names[0]} has spaces or letters beyond ASCII, which no path on a claim may have"
        raise failed(DownloadFailureReason.NOT_A_MODEL, message)
    return [remote.files[name] for name in names]


async def _indexed(source: Source, remote: Remote) -> Collection[str]:
    """What the index names; nothing where it is too long or none, and the names must do."""
    file = remote.files[INDEX]
    if file.size > MOST_INDEX_BYTES:
        return ()
    data = bytearray()
    async with aclosing(source.chunks(file, 0)) as chunks:
        async for chunk in chunks:
            data += chunk
    try:
        return indexed_files(bytes(data))
    except MalformedModel:
        return ()
