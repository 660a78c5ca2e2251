"""What lies between the adapters of a running engine and those that are wanted, by its own answers."""

import json
from typing import Any

import pytest

from llmservice.engines.adapters import Adapter, AdapterCall, LiveAdapters
from llmservice.engines.registry import ENGINES

LAW = Adapter(name="law", path="/models/law")
TAX = Adapter(name="tax", path="acme/tax")


def live_of(engine: str) -> LiveAdapters:
    support = ENGINES[engine].capabilities.adapters
    assert support is not None
    assert support.live is not None
    return support.live


def models(*adapters: tuple[str, str]) -> bytes:
    """The page of vLLM 0.33 (entrypoints/openai/models/serving.py, show_available_models)."""
    base: dict[str, Any] = {"id": "chat", "object": "model", "root": "acme/base", "parent": None}
    return json.dumps(
        {"data": [base, *({"id": name, "root": path, "parent": "chat"} for name, path in adapters)]}
    ).encode()


def calls(engine: str, wanted: list[Adapter], page: bytes) -> list[tuple[str, str, Any]]:
    found: tuple[AdapterCall, ...] = live_of(engine).calls(wanted, page)
    return [(each.adapter, each.path, json.loads(each.body)) for each in found]


def test_vllm_loads_what_is_missing_and_unloads_what_is_not_wanted() -> None:
    assert calls("vllm", [LAW, TAX], models(("tax", "acme/tax"), ("old", "acme/old"))) == [
        ("old", "/v1/unload_lora_adapter", {"lora_name": "old"}),
        ("law", "/v1/load_lora_adapter", {"lora_name": "law", "lora_path": "/models/law"}),
    ]


def test_vllm_loads_an_adapter_anew_whose_path_has_changed() -> None:
    assert [path for _, path, _ in calls("vllm", [LAW], models(("law", "/models/law-1")))] == [
        "/v1/unload_lora_adapter",
        "/v1/load_lora_adapter",
    ]


def test_vllm_is_asked_for_nothing_where_all_is_as_wanted() -> None:
    assert calls("vllm", [LAW], models(("law", "/models/law"))) == []
    assert calls("vllm", [], models()) == []


def scales(**adapters: float) -> bytes:
    """The page of llama.cpp b11312 (server_task_result_get_lora)."""
    listed = [{"id": n, "path": f"/models/{name}", "scale": scale} for n, (name, scale) in enumerate(adapters.items())]
    return json.dumps(listed).encode()


def test_llamacpp_is_told_all_scales_at_once() -> None:
    wanted = [Adapter(name="a", path="/models/a", always=True), Adapter(name="b", path="/models/b")]
    assert calls("llamacpp", wanted, scales(a=0.0, b=1.0)) == [
        ("", "/lora-adapters", [{"id": 0, "scale": 1.0}, {"id": 1, "scale": 0.0}])
    ]
    assert calls("llamacpp", wanted, scales(a=1.0, b=0.0)) == []


@pytest.mark.parametrize("engine", [name for name, each in ENGINES.items() if each.capabilities.adapters])
@pytest.mark.parametrize("page", [b"", b"<html>", b"3", b'{"data": 3}', b'[{"id": "x"}]', b"[[]]", b"null"])
def test_what_is_no_list_of_adapters_is_an_error(engine: str, page: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        live_of(engine).calls([], page)
