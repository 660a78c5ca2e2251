"""The LLMService of these tests, and asking it."""

import json
import time
import urllib.request
from typing import Any

from sandbox.vllm_image import VERSION
from tests.cluster.kube import Body, Kube
from tests.cluster.services import a_tiny_service, address_of

MODEL_FOLDER = "tiny-llama"
CONTEXT_TOKENS = 32768
_MEASURED_TOKENS = 200
_MOST_TOKENS = CONTEXT_TOKENS - 1000


def a_vllm_service(**engine_options: Any) -> Body:
    """A CPU service of the tiny model. The limits say how many threads it starts, and 1 GiB of KV cache."""
    return a_tiny_service(
        engine="vllm",
        model={"uri": f"pvc://models/{MODEL_FOLDER}"},
        maxModelLen=CONTEXT_TOKENS,
        maxNumSeqs=4,
        engineOptions={"version": VERSION, **engine_options},
        drain={"timeoutSeconds": 300},
        pod={
            "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "4Gi"}},
        },
    )


def tokens_of(kube: Kube, seconds: float) -> int:
    """How many tokens one request is given in so many seconds on this machine, by a short one that is timed.

    As many as fit the context at most; the first request of all warms the engine up and is not timed.
    """
    ask_for(kube, 1)
    began = time.monotonic()
    ask_for(kube, _MEASURED_TOKENS)
    per_second = _MEASURED_TOKENS / (time.monotonic() - began)
    return min(_MOST_TOKENS, round(per_second * seconds))


def ask_for(kube: Kube, tokens: int) -> int:
    """One chat completion of so many tokens, whatever the model would rather say; how many came."""
    messages = [{"role": "user", "content": "tell me everything"}]
    body = {"model": "chat", "messages": messages, "max_tokens": tokens, "ignore_eos": True}
    request = urllib.request.Request(  # noqa: S310
        f"{address_of(kube)}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:  # noqa: S310
        came: int = json.load(answer)["usage"]["completion_tokens"]
        return came


def sum_of(kube: Kube, metric: str) -> float:
    """A metric of `chat`, summed over its labels."""
    lines = [line for line in page(kube).splitlines() if line.partition("{")[0] == metric]
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def is_running(pod: Body) -> bool:
    """Whether the engine's process is there."""
    return any("running" in container["state"] for container in pod.get("status", {}).get("containerStatuses", ()))


def log(kube: Kube, pod: str) -> str:
    """What the engine has written so far; or that its pod is gone."""
    return kube.kubectl("logs", pod, check=False)


def page(kube: Kube) -> str:
    """What /metrics says through the Service."""
    with urllib.request.urlopen(f"{address_of(kube)}/metrics", timeout=30) as answer:  # noqa: S310
        text: str = answer.read().decode()
        return text
