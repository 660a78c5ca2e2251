"""Adapters of replicas that run: loaded, unloaded, tried again, loaded anew after a restart, and told of."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmservice.objects.references import ref_of
from llmservice.reconcilers import adapter_loading
from llmservice.reconcilers.adapter_loading import AdapterLoading
from llmservice.signals.engine_requests import EngineAnswer
from tests.scenarios.world import NAMESPACE, World

LAW = {"name": "law", "uri": "pvc://models/law"}
TAX = {"name": "tax", "uri": "hf://acme/tax"}
LIVE: dict[str, Any] = {
    "spec__engine": "vllm",
    "spec__model__uri": "pvc://models/base",
    "spec__adapterUpdates": "Live",
    "spec__gpu": {"type": "L4", "verify": False},
}


@dataclass
class Engines:
    """What engines at all addresses have, and how often they were asked; paths in `broken` cannot be loaded."""

    loaded: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    problem: str = ""

    async def get(self, address: str, path: str) -> EngineAnswer:
        assert address
        self.asked.append(path)
        listed = [{"id": name, "root": where, "parent": "chat"} for name, where in self.loaded.items()]
        return (
            EngineAnswer(problem=self.problem)
            if self.problem
            else EngineAnswer(body=json.dumps({"data": listed}).encode())
        )

    async def post(self, address: str, path: str, body: bytes) -> EngineAnswer:
        assert address
        said = json.loads(body)
        self.asked.append(f"{path} {said['lora_name']}")
        if said.get("lora_path") in self.broken:
            return EngineAnswer(problem="HTTP 500: LoRA rank 128 is greater than max_lora_rank 64")
        if "unload" in path:
            del self.loaded[said["lora_name"]]
        else:
            self.loaded[said["lora_name"]] = said["lora_path"]
        return EngineAnswer(body=b"Success")


@dataclass
class AdapterWorld(World):
    """One service, `chat`, with engines that answer."""

    engines: Engines = field(default_factory=Engines)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.restart()

    def restart(self) -> None:
        """A new process knows nothing of replicas."""
        self.reconciler.adapters = AdapterLoading(get_page=self.engines.get, post_json=self.engines.post)

    def serve(self, *adapters: dict[str, Any], **changes: Any) -> None:
        self.apply(**{**LIVE, "spec__adapters": list(adapters), **changes})
        self.reconcile()
        if not self.pods():
            self.roll_out()
            (pod,) = self.pods()
            self.cluster.edit(ref_of(pod), lambda live: live["status"].update(podIP="10.0.0.1"), subresource="status")
        self.passes()

    def pods(self) -> list[Any]:
        return asyncio.run(self.cluster.list("Pod", NAMESPACE))

    def passes(self) -> None:
        """Until nothing is under way."""
        for _ in range(3):
            self.reconcile()

    def status(self) -> Any:
        return self.get("LLMService")["status"]

    def said(self) -> tuple[str, str] | None:
        conditions = self.status()["conditions"]
        return next(((c["status"], c["reason"]) for c in conditions if c["type"] == "AdaptersLoaded"), None)


def test_adapters_come_and_go_without_a_new_pod() -> None:
    world = AdapterWorld()
    world.serve()
    template = world.get("Deployment")["spec"]["template"]
    world.serve(LAW, TAX)
    assert world.engines.loaded == {"law": "/models/law", "tax": "acme/tax"}
    assert world.status()["models"] == ["chat", "law", "tax"]
    assert world.said() == ("True", "AdaptersLoaded")
    world.serve(TAX)
    assert world.engines.loaded == {"tax": "acme/tax"}
    assert world.status()["adapters"] == [{"name": "tax", "readyReplicas": 1}]
    assert world.get("Deployment")["spec"]["template"] == template


def test_what_is_loaded_is_asked_for_once() -> None:
    world = AdapterWorld()
    world.serve(LAW)
    asked, writes = len(world.engines.asked), len(world.cluster.writes)
    world.passes()
    assert (len(world.engines.asked), len(world.cluster.writes)) == (asked, writes)
    assert asked > 0


def test_a_new_operator_asks_and_loads_nothing_twice() -> None:
    world = AdapterWorld()
    world.serve(LAW)
    world.engines.asked.clear()
    world.restart()
    world.passes()
    assert set(world.engines.asked) == {"/v1/models"}


def test_an_engine_that_was_started_again_gets_its_adapters_again() -> None:
    world = AdapterWorld()
    world.serve(LAW)
    world.engines.loaded.clear()
    (pod,) = world.pods()
    ref = ref_of(pod)
    world.cluster.edit(
        ref, lambda live: live["status"]["containerStatuses"][0].update(restartCount=1), subresource="status"
    )
    world.passes()
    assert world.engines.loaded == {"law": "/models/law"}


def test_an_adapter_that_cannot_be_loaded_is_named_and_the_others_serve() -> None:
    world = AdapterWorld()
    world.engines.broken.add("acme/tax")
    world.serve(LAW, TAX)
    assert world.said() == ("False", "AdapterRejected")
    law, tax = world.status()["adapters"]
    assert (law["readyReplicas"], tax["readyReplicas"]) == (1, 0)
    assert "128" in tax["message"]
    assert world.status()["models"] == ["chat", "law"]


def test_what_failed_is_tried_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    world = AdapterWorld()
    world.engines.broken.add("acme/tax")
    world.serve(TAX)
    tries = world.engines.asked.count("/v1/load_lora_adapter tax")
    world.passes()
    assert world.engines.asked.count("/v1/load_lora_adapter tax") == tries
    world.engines.broken.clear()
    later = adapter_loading._now
    monkeypatch.setattr(adapter_loading, "_now", lambda: later() + 3600)
    world.passes()
    assert world.said() == ("True", "AdaptersLoaded")


def test_an_engine_that_cannot_be_asked_has_no_adapters() -> None:
    world = AdapterWorld()
    world.engines.problem = "HTTP 401: no key"
    world.serve(LAW)
    assert world.said() == ("False", "AdapterRejected")
    assert world.status()["adapters"][0]["readyReplicas"] == 0


def test_adapters_of_the_start_ask_no_engine() -> None:
    world = AdapterWorld()
    world.serve(LAW, spec__adapterUpdates="Restart")
    assert world.engines.asked == []
    assert (world.said(), world.status()["models"]) == (None, ["chat", "law"])
