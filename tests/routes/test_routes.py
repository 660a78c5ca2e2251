"""Routes on a real cluster, in the order of a life: without the Gateway API, with it, without a controller, with one.

The gateway is a stand-in that HAProxy serves for (stand_in.py); everything else is real.
"""

import pytest

from tests.cluster.kube import Kube
from tests.cluster.services import a_tiny_service, ask
from tests.routes.conftest import HOST, PREFIX, Gateway, StageBehindGateway, a_route, admit
from tests.streams.audience import Audience

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.routes]


def said(kube: Kube, reason: str, name: str = "chat", seconds: float = 60) -> str:
    """The status of RouteReady once it has this reason."""
    return str(kube.wait_reason(name, reason, "RouteReady", seconds)["status"])


def test_without_the_gateway_api_it_says_so_and_serves(chat: Kube) -> None:
    assert said(chat, "RouteKindMissing") == "False"
    assert chat.condition("chat", "Ready")["status"] == "True"
    assert ask(chat)["choices"]


def test_once_the_gateway_api_is_installed_the_route_is_made(chat: Kube, gateway: Gateway) -> None:
    """The operator runs on, and the API server has taken the route as it was meant: no second version of it."""
    chat.wait(lambda: chat.get("HTTPRoute", "chat"), lambda: chat.get("LLMService", "chat"), 90)
    assert chat.wait_reason("chat", "RouteRefused", "RouteReady")["message"].count("NotAllowedByListeners") == 1
    route = chat.get("HTTPRoute", "chat")
    assert route
    assert route["metadata"]["generation"] == 1
    assert gateway.status(f"{PREFIX}/v1/models") == 404


def test_a_namespace_that_is_admitted_is_reached_with_tls(chat: Kube, gateway: Gateway) -> None:
    admit(chat)
    assert said(chat, "RouteAccepted") == "True"
    status = (chat.get("LLMService", "chat") or {})["status"]["route"]
    assert status["addresses"] == [f"{HOST}{PREFIX}/v1"]
    assert status["gateways"] == [f"Gateway {gateway.kube.namespace}/shared"]
    chat.wait(lambda: gateway.status(f"{PREFIX}/v1/models") == 200 or None, lambda: None, 10)
    assert gateway.ask(PREFIX, "chat")["usage"]["completion_tokens"] == 4


def test_only_the_api_is_reached(gateway: Gateway) -> None:
    found = {path: gateway.status(path) for path in (f"{PREFIX}/metrics", f"{PREFIX}/slots", "/metrics", "/v1/models")}
    assert set(found.values()) == {404}
    assert gateway.status(f"{PREFIX}/v1/models", "other.example.com") == 404


def test_streams_stay_whole_while_it_is_scaled_and_rolled_out(stage: StageBehindGateway) -> None:
    with stage.disturbed("through a gateway with TLS: scaled up and down, then every replica replaced") as audience:
        for replicas in (3, 1, 2):
            _scale(stage, replicas, audience)
        before = stage.pods()
        stage.edit(maxNumSeqs=17)
        stage.wait(lambda: stage.all_replaced(before) and stage.is_settled(), audience)
    assert len(stage.rows) == 1


def _scale(stage: StageBehindGateway, replicas: int, audience: Audience) -> None:
    stage.edit(replicas=replicas)
    stage.wait(lambda: len(stage.ready_pods()) == replicas, audience)


def test_an_edit_of_the_route_takes_no_stream_away(stage: StageBehindGateway) -> None:
    """A listener more and a limit less: the streams of the old configuration go on."""
    infra = stage.gateway.kube
    route = a_route(infra, path=PREFIX, hostnames=[HOST, "again.example.com"])
    with stage.disturbed("through a gateway with TLS: another hostname is added to the route") as audience:
        before = stage.pods()
        stage.edit(route=route)
        stage.wait(lambda: stage.gateway.status(f"{PREFIX}/v1/models", "again.example.com") == 200, audience)
    assert stage.pods() == before


def test_two_models_share_a_hostname_by_their_paths(chat: Kube, gateway: Gateway) -> None:
    chat.create(a_tiny_service("small", route=a_route(gateway.kube, path="/small")))
    chat.wait_ready("small")
    assert said(chat, "RouteAccepted", "small") == "True"
    chat.wait(lambda: gateway.status("/small/v1/models") == 200 or None, lambda: None, 10)
    assert (gateway.ask("/small", "small")["model"], gateway.ask(PREFIX, "chat")["model"]) == ("small", "chat")


def test_a_hostname_and_path_that_are_taken_are_told_to_the_newer_one(chat: Kube, gateway: Gateway) -> None:
    chat.patch("LLMService", "small", {"spec": {"route": {"path": PREFIX}}})
    message = chat.wait_reason("small", "RouteShadowed", "RouteReady")["message"]
    assert "LLMService chat" in message
    assert chat.condition("chat", "RouteReady")["status"] == "True"
    assert gateway.ask(PREFIX, "chat")["model"] == "chat"
    chat.patch("LLMService", "small", {"spec": {"route": {"path": "/small"}}})
    assert said(chat, "RouteAccepted", "small") == "True"


def test_a_value_that_the_gateway_cannot_is_told_with_its_own_words(chat: Kube) -> None:
    chat.patch("LLMService", "small", {"spec": {"route": {"timeouts": {"request": "30s"}}}})
    message = chat.wait_reason("small", "RouteRefused", "RouteReady")["message"]
    assert "timeouts other than 0s are not supported" in message
    chat.patch("LLMService", "small", {"spec": {"route": {"timeouts": {"request": "Default"}}}})
    assert said(chat, "RouteAccepted", "small") == "True"


def test_a_hostname_that_no_listener_has_is_told(chat: Kube) -> None:
    chat.patch("LLMService", "small", {"spec": {"route": {"hostnames": ["small.example.org"]}}})
    assert "NoMatchingListenerHostname" in chat.wait_reason("small", "RouteRefused", "RouteReady")["message"]


def test_a_gateway_that_nobody_serves_is_suspected_after_a_minute(chat: Kube) -> None:
    parents = [{"name": "nobodys"}]
    chat.patch("LLMService", "small", {"spec": {"route": {"parentRefs": parents}}})
    assert said(chat, "RoutePending", "small") == "Unknown"
    assert said(chat, "RouteUnclaimed", "small", 90) == "Unknown"
    assert chat.condition("small", "Ready")["status"] == "True"


def test_without_the_field_the_route_goes(chat: Kube, gateway: Gateway) -> None:
    chat.patch("LLMService", "chat", {"spec": {"route": None}})
    chat.wait(lambda: chat.get("HTTPRoute", "chat") is None or None, lambda: chat.get("HTTPRoute", "chat"))
    chat.wait(lambda: gateway.status(f"{PREFIX}/v1/models") == 404 or None, lambda: None, 10)
    chat.wait(lambda: not chat.condition("chat", "RouteReady") or None, lambda: chat.get("LLMService", "chat"))
    assert ask(chat)["choices"]
