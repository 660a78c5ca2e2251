"""Tokens that tell the operator who asks."""

import orjson
import pytest

from llmservice.cluster.tokens import AUDIENCE, own_token, token_of_account
from llmservice.cluster.transport.connection import connect
from llmservice.errors import Refused, UsageError
from tests.unit.cluster.fake_api_server import FakeApiServer, a_status, answer, serving, some_credentials

GRANTED = answer(201, {"status": {"token": "made-for-it"}})


async def test_a_token_of_an_account_is_made_for_the_operator_alone_and_ten_minutes() -> None:
    server = FakeApiServer(calls=[GRANTED])
    async with serving(server) as connection:
        assert await token_of_account(connection, "ml/viewer") == "made-for-it"
    assert server.requests[0].path == "/api/v1/namespaces/ml/serviceaccounts/viewer/token"
    assert orjson.loads(server.bodies[0])["spec"] == {"audiences": [AUDIENCE], "expirationSeconds": 600}


@pytest.mark.parametrize("account", ["viewer", "/viewer", "ml/", "ml/viewer/x"])
async def test_an_account_is_named_with_its_namespace(account: str) -> None:
    async with serving(FakeApiServer(calls=[GRANTED])) as connection:
        with pytest.raises(UsageError, match=r"--as-service-account: .* is not NAMESPACE/NAME"):
            await token_of_account(connection, account)


async def test_who_may_not_make_a_token_is_told_by_the_api_server() -> None:
    forbidden = answer(403, a_status(403, 'cannot create resource "serviceaccounts/token"', "Forbidden"))
    async with serving(FakeApiServer(calls=[forbidden])) as connection:
        with pytest.raises(Refused, match="serviceaccounts/token"):
            await token_of_account(connection, "ml/viewer")


async def test_the_token_of_the_kubeconfig_is_the_one_that_the_api_server_gets() -> None:
    async with connect(some_credentials("http://127.0.0.1:1", "mine")) as connection:
        assert await own_token(connection) == "mine"
