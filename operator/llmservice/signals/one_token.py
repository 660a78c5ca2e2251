"""Asks an engine for as little as it can do: the proof that it works, where its metrics say that it does not.

A model that generates is asked for one token, others for an embedding or a score of one letter, or for what is said in
a tenth of a second of silence.

Metrics alone can be wrong: when all requests are cancelled at once, vLLM before 0.13 goes on reporting them as running
(vllm-project/vllm issues 22545 and 29928), and to restart an engine that is merely idle would be our mistake.
"""

import asyncio
import io
import wave
from collections.abc import Mapping
from enum import StrEnum

import aiohttp
from yarl import URL

from llmservice.engines.proxied import POD_UID_HEADER, QUESTION_PATHS
from llmservice.models.model_facts import Task

_SAMPLES_A_SECOND = 16_000
_OK = 200
_MOST_BYTES = 64 * 2**10


class Answer(StrEnum):
    """What became of the request."""

    SERVED = "Served"
    """An answer came: the engine works."""
    SILENT = "Silent"
    """The connection was accepted, and no answer came in time."""
    UNTOLD = "Untold"
    """It was refused, or could not be sent: nothing follows from it."""


async def ask_for_token(
    session: aiohttp.ClientSession,
    address: str,
    port: int,
    model: str,
    task: Task = Task.GENERATE,
    *,
    pod_uid: str,
    seconds: float,
) -> Answer:
    """Send one small request to the pod at this address, and wait so long for the answer. Never raises.

    All engines of the catalogue answer OpenAI's API on the port that has their metrics. A proxy that asks clients for
    keys lets the question pass, now and then, for who knows the UID of its pod.
    """
    url = URL.build(scheme="http", host=address, port=port, path=QUESTION_PATHS[task])
    headers = {POD_UID_HEADER: pod_uid}
    try:
        async with (
            asyncio.timeout(seconds),
            session.post(url, data=_body(task, model), headers=headers, allow_redirects=False) as response,
        ):
            if response.status != _OK:
                return Answer.UNTOLD
            return Answer.SERVED if await response.content.read(_MOST_BYTES) else Answer.UNTOLD
    except TimeoutError:
        return Answer.SILENT
    except (aiohttp.ClientError, OSError, ValueError):
        return Answer.UNTOLD


def _body(task: Task, model: str) -> aiohttp.JsonPayload | aiohttp.FormData:
    if task is Task.TRANSCRIBE:
        form = aiohttp.FormData({"model": model})
        form.add_field("file", _silence(), filename="silence.wav", content_type="audio/wav")
        return form
    asked: Mapping[Task, Mapping[str, object]] = {
        Task.EMBED: {"input": "a"},
        Task.RERANK: {"query": "a", "documents": ["a"]},
    }
    completion = {"prompt": "a", "max_tokens": 1, "stream": False}
    return aiohttp.JsonPayload({"model": model, **asked.get(task, completion)})


def _silence() -> bytes:
    """A tenth of a second of it, as a WAV file."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_SAMPLES_A_SECOND)
        file.writeframes(bytes(2 * _SAMPLES_A_SECOND // 10))
    return written.getvalue()
