"""Who somebody is and what they may: token review and access review, or their own question where we may not ask."""

from typing import Any

import orjson
import pytest
from aiohttp import web

from llmservice.cluster.reviews import Reviews, Verdict, may_get_metrics, may_get_service
from llmservice.cluster.tokens import AUDIENCE
from llmservice.errors import OperatorError, Refused, Unavailable
from tests.unit.cluster.fake_api_server import FakeApiServer, Scene, a_status, answer, serving

SERVICE = may_get_service("ml", "chat")
USER = {"username": "jane", "uid": "u-1", "groups": ["system:authenticated", "ml"], "extra": {"scopes": ["read"]}}
UNKNOWN = answer(201, {"status": {"error": "invalid bearer token"}})
KNOWN = answer(201, {"status": {"authenticated": True, "user": USER, "audiences": ["https://kubernetes.default.svc"]}})
FOR_US = answer(201, {"status": {"authenticated": True, "user": USER, "audiences": [AUDIENCE]}})
FOR_OTHERS = answer(201, {"status": {"authenticated": True, "user": USER, "audiences": ["vault"]}})
ALLOWED, DENIED = (answer(201, {"status": {"allowed": allowed}}) for allowed in (True, False))
MAY_NOT_ASK = answer(403, a_status(403, "tokenreviews.authentication.k8s.io is forbidden", "Forbidden"))


class Session:
    """What was asked in one conversation, in short."""

    def __init__(self, *scenes: Scene) -> None:
        self.server = FakeApiServer(calls=[*scenes])

    async def verdicts(self, *tokens: str, certificate: str = "") -> list[Verdict]:
        async with serving(self.server) as connection:
            connection.credentials.configuration.cert_file = certificate or None
            reviews = Reviews(connection=connection)
            return [await reviews.verdict(token, SERVICE) for token in tokens]

    def asked(self) -> list[tuple[str, dict[str, Any]]]:
        bodies = [orjson.loads(body) for body in self.server.bodies]
        return [(body["kind"], body["spec"]) for body in bodies]


async def test_a_user_who_may_is_asked_about_with_all_that_is_known_of_them() -> None:
    session = Session(KNOWN, ALLOWED)
    assert await session.verdicts("token") == [Verdict(user="jane", allowed=True)]
    (_, shown), (kind, spec) = session.asked()
    assert shown == {"token": "token"}
    assert (kind, spec["user"], spec["groups"], spec["uid"], spec["extra"]) == (
        "SubjectAccessReview",
        "jane",
        USER["groups"],
        "u-1",
        USER["extra"],
    )
    assert spec["resourceAttributes"] == {
        "verb": "get",
        "group": "llmservice.dev",
        "version": "v1alpha1",
        "resource": "llmservices",
        "namespace": "ml",
        "name": "chat",
    }


def test_the_right_to_metrics_is_one_to_a_path() -> None:
    attributes = orjson.loads(may_get_metrics().attributes)
    assert attributes == {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}


@pytest.mark.parametrize(
    ("scenes", "verdict"),
    [
        ((KNOWN, DENIED), Verdict(user="jane")),
        ((UNKNOWN, UNKNOWN), Verdict()),
        ((UNKNOWN, FOR_US, ALLOWED), Verdict(user="jane", allowed=True)),
        ((UNKNOWN, FOR_OTHERS), Verdict()),
        ((answer(201, {}), answer(201, {})), Verdict()),
    ],
)
async def test_the_api_server_judges(scenes: tuple[Scene, ...], verdict: Verdict) -> None:
    """A token for our audience counts, one for somebody else's does not."""
    assert await Session(*scenes).verdicts("token") == [verdict]


@pytest.mark.parametrize(
    ("scene", "verdict"),
    [
        (ALLOWED, Verdict(user="the owner of this token", allowed=True)),
        (DENIED, Verdict(user="the owner of this token")),
    ],
)
async def test_without_the_right_to_review_the_question_is_the_callers_own(scene: Scene, verdict: Verdict) -> None:
    session = Session(MAY_NOT_ASK, scene)
    assert await session.verdicts("one", "two") == [verdict] * 2
    kinds = [kind for kind, _ in session.asked()]
    assert kinds == ["TokenReview", "SelfSubjectAccessReview", "SelfSubjectAccessReview"]
    shown = [request.headers.get("Authorization") for request in session.server.requests]
    assert shown == [None, "Bearer one", "Bearer two"]


async def test_a_bad_token_is_nobody_when_it_asks_for_itself() -> None:
    session = Session(MAY_NOT_ASK, answer(401, a_status(401, "Unauthorized", "Unauthorized")))
    assert await session.verdicts("bad") == [Verdict()]


async def test_with_a_client_certificate_of_our_own_nobody_asks_for_themselves() -> None:
    """The API server would see the certificate first, and answer about us."""
    session = Session(MAY_NOT_ASK, ALLOWED)
    with pytest.raises(Refused):
        await session.verdicts("token", certificate="client.crt")
    assert [kind for kind, _ in session.asked()] == ["TokenReview"]


async def test_a_review_refused_for_its_token_changes_nothing_for_the_next_one() -> None:
    odd = answer(422, a_status(422, "TokenReview is invalid: spec.token", "Invalid"))
    server = FakeApiServer(calls=[odd, KNOWN, ALLOWED])
    async with serving(server) as connection:
        reviews = Reviews(connection=connection)
        with pytest.raises(Refused):
            await reviews.verdict("odd", SERVICE)
        assert await reviews.verdict("token", SERVICE) == Verdict(user="jane", allowed=True)


@pytest.mark.parametrize("status", [500, 429, 503])
async def test_an_api_server_in_trouble_is_no_verdict(status: int) -> None:
    with pytest.raises(Unavailable):
        await Session(answer(status, a_status(status, "overloaded"))).verdicts("token")


async def test_the_token_stands_in_no_error() -> None:
    async def hang_up(request: web.Request) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    with pytest.raises(OperatorError) as raised:
        await Session(hang_up).verdicts("a-planted-token")
    assert "a-planted-token" not in str(raised.value)
