"""/explain: the last evaluation as JSON, from the leader alone."""

import asyncio
import json

from aiohttp import web

from llmservice.controllers.endpoints.explaining import Explainer
from llmservice.controllers.endpoints.routes import Figures
from llmservice.controllers.endpoints.shared_page import SharedPage
from tests.scenarios.scaled_world import UNREACHABLE, ScaledWorld
from tests.unit.controllers.http_asking import a_request


def explainer(world: ScaledWorld, *, leads: bool = True) -> Explainer:
    return Explainer(states=world.states, leads=lambda: leads, clock=lambda: world.seconds() + 4)


def busy_world() -> ScaledWorld:
    world = ScaledWorld().scaled(minimum=2)
    world.source.by_pod = {"chat-1-01": 9.0}
    world.source.unreadable = {"chat-1-02": UNREACHABLE}
    world.round()
    return world


def test_it_says_what_was_decided_and_why() -> None:
    status, answer = explainer(busy_world())("ml", "chat")
    assert status == 200
    decision = answer["decision"]
    assert (decision["replicas"], decision["reason"], decision["applied"]) == (5, "LoadRose", True)
    assert answer["replicas"] == {"desired": 2, "ready": 2, "starting": 0, "unschedulable": 0}
    assert (answer["steps"][0]["name"], answer["steps"][0]["replicas"]) == ("running", 4.5)
    assert (answer["ageSeconds"], answer["periodSeconds"]) == (4.0, 10.0)
    assert (answer["minReplicas"], answer["maxReplicas"], answer["source"]) == (2, 8, "Pods")
    assert [step["name"] for step in answer["steps"]] == ["running", "hold", "result"]


def test_each_pod_has_its_values_and_their_age_or_why_there_are_none() -> None:
    _, answer = explainer(busy_world())("ml", "chat")
    read, unreadable = answer["pods"]
    assert (read["name"], read["running"], read["ageSeconds"]) == ("chat-1-01", 9.0, 4.0)
    assert unreadable == {
        "name": "chat-1-02",
        "phase": "Ready",
        "reason": "Unreachable",
        "message": "connection refused: see its log",
    }


def test_what_is_not_scaled_is_said_with_the_way_out() -> None:
    status, answer = explainer(ScaledWorld())("ml", "chat")
    assert status == 404
    assert "spec.autoscaling" in answer["message"]


def test_only_the_leader_knows() -> None:
    status, answer = explainer(ScaledWorld().scaled(), leads=False)("ml", "chat")
    assert status == 503
    assert "ask the leader" in answer["message"]


def test_a_suspended_service_has_conditions_and_no_decision() -> None:
    world = ScaledWorld().scaled()
    world.apply(spec__suspend=True, spec__autoscaling={"maxReplicas": 4})
    world.round()
    _, answer = explainer(world)("ml", "chat")
    assert "decision" not in answer
    assert answer["conditions"][0]["reason"] == "Suspended"


def test_the_endpoint_serves_it() -> None:
    world = busy_world()
    handle = Figures(page=SharedPage(make=lambda: b""), explain=explainer(world), guard=None)

    async def asked() -> web.Response:
        return await handle(a_request("/explain/ml/chat"))

    answer = asyncio.run(asked())
    assert (answer.status, answer.content_type) == (200, "application/json")
    assert json.loads(answer.text or "") == explainer(world)("ml", "chat")[1]
