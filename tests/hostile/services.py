"""LLMServices of tenants: with pods on the played node, as large as the API server takes, or with texts that cost."""

from collections.abc import Iterable
from typing import Any

from tests.cluster.kube import Body, Kube, Rejected
from tests.cluster.services import a_tiny_service
from tests.hostile.answers import VERSION
from tests.hostile.node import KEY
from tests.hostile.plays import ANNOTATION
from tests.hostile.words import dashes

_OWN_IMAGE = {"image": "registry.example/own:1", "version": "b11312"}
"""Of an image of one's own every argument is passed on, whatever it is."""
_ANNOTATIONS_BYTES = 255_000
"""A little less than the API server takes of all annotations of one object."""


def played(name: str, play: str, *, replicas: int = 1, source: str = "Pods", **spec: Any) -> Body:
    """A service of vLLM whose pods are played; it is scaled, so its engines are asked for their metrics."""
    pod = {
        "annotations": {ANNOTATION: play},
        "nodeSelector": {KEY: "played"},
        "tolerations": [{"key": KEY, "operator": "Exists"}],
        "resources": {
            "requests": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"},
            "limits": {"cpu": "1", "memory": "8Gi"},
        },
    }
    fields = {
        "engine": "vllm",
        "engineOptions": {"version": VERSION},
        "model": {"uri": "hf://Qwen/Qwen2.5-0.5B-Instruct"},
        "dtype": "bfloat16",
        "gpu": {"count": 0},
        "maxModelLen": 2048,
        "maxNumSeqs": 8,
        "autoscaling": {"minReplicas": replicas, "maxReplicas": replicas, "source": source},
        "pod": pod,
        **spec,
    }
    return {**a_tiny_service(name), "spec": fields}


def with_dashes(name: str, count: int = 128, letters: int = 8192) -> Body:
    """A suspended service with arguments on which a backtracking pattern hangs."""
    return a_tiny_service(name, suspend=True, engineOptions={"args": [dashes(letters)] * count, **_OWN_IMAGE})


def as_large_as_it_gets(name: str, count: int = 128, letters: int = 8192) -> Body:
    """A suspended service of large letters, with as many annotations as the API server takes of any object."""
    body = a_tiny_service(name, suspend=True, engineOptions={"args": ["\U0001f600" * letters] * count, **_OWN_IMAGE})
    notes = {f"hostile.example/{number}": dashes(_ANNOTATIONS_BYTES // 17) for number in range(16)}
    return {**body, "metadata": {**body["metadata"], "annotations": notes}}


_MOST_LETTERS = 2**18
"""Of four bytes each."""


def sizes() -> Iterable[tuple[int, int]]:
    """How many arguments of how many letters: the most letters first, and of as many the longest.

    Of more than a megabyte the API server reads no more, and breaks the connection.
    """
    counts, lengths = (128, 64, 32, 16, 8, 4, 2, 1), (8192, 4096, 2048, 1024, 512)
    pairs = [(count, letters) for count in counts for letters in lengths if count * letters < _MOST_LETTERS]
    return sorted(pairs, key=lambda pair: (pair[0] * pair[1], pair[1]), reverse=True)


def largest_admitted(kube: Kube, make: Any) -> tuple[int, int]:
    """The most arguments that the API server takes, by its own word."""
    for count, letters in sizes():
        try:
            kube.create(make("largest", count, letters), dry_run=True)
        except Rejected:
            continue
        return count, letters
    raise AssertionError("the API server refuses even the smallest of them")
