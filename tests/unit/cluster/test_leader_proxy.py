"""The leader is found by its Lease and asked through the API server."""

import pytest
from aiohttp import web

from llmservice.cluster.leadership.leader_proxy import ask_leader
from llmservice.errors import OperatorError
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_status, answer, serving

LEASE = answer(body={"spec": {"holderIdentity": "llmservice-operator-5d9-x7k_0a1b2c3d"}})


async def ask(*calls: Scene) -> tuple[object, list[web.Request]]:
    server = FakeApiServer(calls=[*calls])
    async with serving(server) as connection:
        found = await ask_leader(connection, "llmservice-system", "llmservice-operator", "explain/ml/chat", "a-token")
    return found, server.requests


async def test_the_pod_named_in_the_lease_is_asked() -> None:
    found, requests = await ask(LEASE, answer(body={"name": "chat"}))
    assert found == {"name": "chat"}
    assert [request.path for request in requests] == [
        "/apis/coordination.k8s.io/v1/namespaces/llmservice-system/leases/llmservice-operator",
        "/api/v1/namespaces/llmservice-system/pods/https:llmservice-operator-5d9-x7k:/proxy/explain/ml/chat",
    ]


async def test_the_token_goes_to_the_operator_alone_and_not_as_the_api_servers() -> None:
    _, (lease, proxied) = await ask(LEASE, answer(body={"name": "chat"}))
    assert "X-LLMService-Authorization" not in lease.headers
    assert proxied.headers["X-LLMService-Authorization"] == "Bearer a-token"
    assert "a-token" not in proxied.headers.get("Authorization", "")
    assert "a-token" not in str(proxied.rel_url)


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ((answer(404, a_status(404, "leases not found")),), "name the operator's namespace"),
        ((answer(body={"spec": {"holderIdentity": ""}}),), "nobody holds the Lease .* wait"),
        ((answer(body={"spec": {}}),), "nobody holds the Lease"),
        ((LEASE, answer(404, a_status(404, 'pods "llmservice-operator-5d9-x7k" not found'))), "try again, or give its"),
        ((LEASE, answer(404, {"message": "ml/chat is not scaled: check the name"})), "ml/chat is not scaled: check"),
        ((LEASE, answer(403, a_status(403, 'cannot get resource "pods/proxy"'))), "pods/proxy"),
    ],
)
async def test_what_stands_in_the_way_is_said(calls: tuple[Scene, ...], words: str) -> None:
    with pytest.raises(OperatorError, match=words):
        await ask(*calls)
