"""What is loaded: an LLMService by its name, through its Service, or any server that speaks OpenAI's protocol."""

import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import orjson

from llmservice.bench.generator import KEY_VARIABLE
from llmservice.bench.prompts import Calibration, calibrated, prompt
from llmservice.cli.connecting import connected
from llmservice.cli.where import Where
from llmservice.cluster.api_server import ApiServer
from llmservice.cluster.port_forward import forwarded
from llmservice.cluster.transport.answers import read_at_most
from llmservice.cluster.transport.credentials import SERVICE_ACCOUNT
from llmservice.errors import InvalidInput, NotFound, NotYet, OperatorError, Refused, Unavailable, UsageError
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.pods import is_ready
from llmservice.objects.references import Manifest, Ref

_LARGEST_ANSWER = 2**20
_SECONDS = 120.0
_LONGEST_KEY = 4096
_SHORT, _LONG = 8, 72
"""Words of the two prompts that a server's tokens are counted with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A base URL without `/v1`, the model to ask for, and what to call it; `slots` of all its replicas, if known."""

    title: str
    url: str
    model: str
    slots: int | None = None
    replicas: int | None = None


@asynccontextmanager
async def endpoint(target: str, where: Where, model: str, key: str) -> AsyncIterator[Endpoint]:
    """The target, reachable while the block lasts. Raises what is in the way of it, with the way out."""
    if "://" in target:
        url = _base(target)
        yield Endpoint(title=url, url=url, model=model or await _first_model(url, key))
        return
    async with connected(where) as (connection, space):
        server = ApiServer(connection)
        body = await server.get(Ref(kind="LLMService", namespace=space, name=target))
        service = await server.get(Ref(kind="Service", namespace=space, name=target))
        if body is None or service is None:
            raise NotFound(
                "NotFound", f"there is no LLMService {target} in namespace {space}; see: llmservice status -A"
            )
        slots = (body.get("status") or {}).get("plan", {}).get("maxNumSeqs")
        facts: dict[str, Any] = {"title": f"{space}/{target}", "model": model or target, "slots": slots}
        if not os.environ.get("KUBECONFIG") and (SERVICE_ACCOUNT / "token").exists():
            yield Endpoint(url=_base(body["status"]["url"]), **facts)
            return
        pods = [
            pod for pod in await server.list("Pod", space, label_selector=f"{NAME_LABEL}={target}") if is_ready(pod)
        ]
        if not pods:
            raise NotYet(
                "NoReplica", f"no replica of {space}/{target} is ready: wait, or see: llmservice status {target}"
            )
        names = [pod["metadata"]["name"] for pod in pods]
        async with forwarded(connection, space, names, _port(service, pods[0])) as url:
            yield Endpoint(url=url, replicas=len(names), **facts)


def key_of(file: Path | None) -> str:
    """The key of a file, else of the environment; empty for none. Raises UsageError."""
    if file is None:
        return os.environ.get(KEY_VARIABLE, "").strip()
    try:
        with file.open(encoding="utf-8") as content:
            key = content.read(_LONGEST_KEY + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError("UnreadableKey", f"{file}: cannot be read: {error}", field="--key-file") from error
    if not key or len(key) > _LONGEST_KEY or not key.isprintable():
        raise UsageError("InvalidKey", f"{file}: has to hold one key in one line", field="--key-file")
    return key


async def calibration(at: Endpoint, key: str, extra: Mapping[str, Any]) -> Calibration:
    """How many tokens the server counts for so many words: two short requests, which are a warm-up as well.

    Raises what the server has against such requests, before hundreds of them are sent.
    """
    counts = [await _prompt_tokens(at, key, extra, words) for words in (_SHORT, _LONG)]
    return calibrated((_SHORT, counts[0]), (_LONG, counts[1]))


async def _prompt_tokens(at: Endpoint, key: str, extra: Mapping[str, Any], words: int) -> int:
    body = {
        "model": at.model,
        "max_tokens": 2,
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": prompt(words, words, salt=secrets.randbits(32))}],
        **extra,
    }
    answer = await _asked("POST", f"{at.url}/v1/chat/completions", key, body)
    for line in reversed(answer.decode(errors="replace").splitlines()):
        if line.startswith("data: {") and '"usage"' in line:
            usage = (_parsed(line.removeprefix("data: ")).get("usage")) or {}
            if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
                return int(usage["prompt_tokens"])
    raise InvalidInput(
        "NoUsage",
        f"{at.url} does not count its tokens when it streams (stream_options.include_usage): nothing can be measured",
    )


async def _first_model(url: str, key: str) -> str:
    listed = _parsed(await _asked("GET", f"{url}/v1/models", key)).get("data")
    first = listed[0] if isinstance(listed, list) and listed else None
    name = first.get("id") if isinstance(first, dict) else None
    if not isinstance(name, str):
        raise UsageError("NoModel", f"{url} lists no model: name the one to ask for", field="--model")
    return name


async def _asked(method: str, url: str, key: str, body: Mapping[str, Any] | None = None) -> bytes:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, url, json=body, headers=headers, allow_redirects=False) as response,
        ):
            answer = await read_at_most(response.content, _LARGEST_ANSWER)
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        why = str(error) or f"no answer in {_SECONDS:.0f} s"
        raise Unavailable("Unreachable", f"{url}: {why}: is it the address of a server that serves?") from error
    if response.status != 200:  # noqa: PLR2004
        raise _refusal(url, response.status, answer)
    return answer


def _refusal(url: str, status: int, answer: bytes) -> OperatorError:
    said = " ".join(answer[:300].decode(errors="replace").split())
    if status in (401, 403):
        return Refused("KeyRefused", f"{url}: HTTP {status}: give the key of a client by --key-file or {KEY_VARIABLE}")
    return Refused("TargetRefused", f"{url}: HTTP {status}: {said}; is --model right, is it OpenAI's API?")


def _parsed(answer: bytes | str) -> dict[str, Any]:
    try:
        content = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return {}
    return content if isinstance(content, dict) else {}


def _base(url: str) -> str:
    """Without the path that is added to each request."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise UsageError("InvalidAddress", f"{url}: {error}") from error
    if parts.scheme not in {"http", "https"} or not host or parts.query or parts.username:
        raise UsageError("InvalidAddress", "give an address such as http://chat.ml.svc, without user, key and query")
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def _port(service: Manifest, pod: Manifest) -> int:
    """The pod's port behind the first of the Service."""
    wanted = service["spec"]["ports"][0].get("targetPort")
    if isinstance(wanted, int):
        return wanted
    containers = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
    ports = (port for container in containers for port in container.get("ports") or ())
    return next(int(port["containerPort"]) for port in ports if port.get("name") == wanted)
