"""Heads of requests: what goes on, what ends here, what is refused."""

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from llmservice.activator.bounds import BUFFER_BYTES
from llmservice.activator.messages import LONGEST_HEAD, answered, buffered, checked, sent_on
from llmservice.activator.refusals import Code, Refusal

HTTP_1_0, HTTP_1_1 = (1, 0), (1, 1)


def code(
    *headers: tuple[str, str],
    method: str = "POST",
    target: str = "/v1/x?a=b",
    version: tuple[int, int] = HTTP_1_1,
    size: int = 100,
) -> str:
    """The code of the refusal; empty when there is none."""
    try:
        checked(method, target, version, CIMultiDictProxy(CIMultiDict(headers)), size)
    except Refusal as refusal:
        return refusal.code
    return ""


@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Length", "4"), ("Transfer-Encoding", "chunked")],
        [("Content-Length", "4"), ("content-length", "4")],
        [("Transfer-Encoding", "gzip, chunked")],
        [("Transfer-Encoding", "chunked"), ("transfer-encoding", "chunked")],
        [("Transfer-Encoding", "identity")],
        [("Host", "a"), ("host", "b")],
    ],
)
def test_what_may_be_understood_in_two_ways_is_refused(headers: list[tuple[str, str]]) -> None:
    assert code(*headers) == Code.NOT_UNDERSTOOD


def test_chunks_are_of_http_1_1() -> None:
    assert code(("Transfer-Encoding", " Chunked ")) == ""
    assert code(("Transfer-Encoding", "chunked"), version=HTTP_1_0) == Code.NOT_UNDERSTOOD


def test_the_offer_of_http_2_is_ignored_and_other_upgrades_are_refused() -> None:
    assert code(("Upgrade", "h2c"), ("Connection", "Upgrade, HTTP2-Settings")) == ""
    assert code(("Upgrade", "websocket")) == Code.NOT_SUPPORTED
    assert code(method="CONNECT") == Code.NOT_SUPPORTED


@pytest.mark.parametrize("target", ["*", "", "/\udcff", "/é"])
def test_what_is_asked_for_is_a_path(target: str) -> None:
    assert code(method="OPTIONS", target=target) == Code.NOT_UNDERSTOOD


def test_values_that_cannot_be_written_again_are_left_out() -> None:
    assert list(sent_on(CIMultiDict([("X-A", "\udcff"), ("X-B", "é")])).items()) == [("X-B", "é")]


def test_a_head_has_a_size() -> None:
    assert code(size=LONGEST_HEAD) == ""
    assert code(size=LONGEST_HEAD + 1) == Code.NOT_UNDERSTOOD


def test_headers_of_the_connection_and_those_it_names_stay_here() -> None:
    ends_here = [
        *(
            ("Connection", "close, X-Mine"),
            ("connection", "x-too"),
            ("X-Mine", "1"),
            ("X-Too", "1"),
            ("TE", "trailers"),
        ),
        *(("Trailer", "X"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AA"), ("Keep-Alive", "1")),
    ]
    kept = [("Cookie", "a"), ("Cookie", "b"), ("Authorization", "Bearer k"), ("Host", "chat")]
    given = CIMultiDict([*ends_here, ("Expect", "100-continue"), *kept])
    assert list(sent_on(given).items()) == kept
    assert list(answered(given).items()) == [("Expect", "100-continue"), *kept]


@pytest.mark.parametrize(
    ("length", "has_body", "size"),
    [(None, False, 0), (None, True, 4 * BUFFER_BYTES), (10, True, 10), (10**9, True, BUFFER_BYTES)],
)
def test_of_a_body_a_buffer_is_counted_and_more_for_its_chunks(length: int | None, has_body: bool, size: int) -> None:
    assert buffered(length, has_body=has_body) == size
