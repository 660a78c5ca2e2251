"""The port of a service, and when its requests go to the activators."""

import pytest

from llmservice.converging.activation import address_type_of, choose_port, of_type, trouble_in, wants_activators
from llmservice.objects.endpoint_slices import FIRST_PORT, LAST_PORT, Activator
from llmservice.objects.references import Manifest
from tests.builders import an_llmservice, with_changes
from tests.unit.objects.test_endpoint_slices import OURS


def a_slice(uid: str, port: int, created: str = "2026-01-01T00:00:00Z") -> Manifest:
    name = f"of-{uid}"
    return with_changes(
        OURS,
        {
            "metadata__name": f"{name}-activator",
            "metadata__uid": f"slice-{uid}",
            "metadata__creationTimestamp": created,
            "metadata__labels": {**OURS["metadata"]["labels"], "llmservice.dev/name": name},
            "metadata__ownerReferences": [{"kind": "LLMService", "name": name, "uid": uid, "controller": True}],
            "ports": [{"port": port}],
        },
    )


def test_a_service_keeps_its_port() -> None:
    port = choose_port("a", [])
    assert port is not None
    assert choose_port("a", [a_slice("a", 20_001), a_slice("b", 20_002)]) == 20_001


def test_no_two_services_have_one_port() -> None:
    slices: list[Manifest] = []
    for number in range(300):
        port = choose_port(str(number), slices)
        assert port is not None
        slices.append(a_slice(str(number), port))
    assert len({each["ports"][0]["port"] for each in slices}) == 300
    assert {FIRST_PORT <= each["ports"][0]["port"] <= LAST_PORT for each in slices} == {True}


def test_of_two_slices_that_name_one_port_the_older_has_it() -> None:
    older = a_slice("a", 20_001, "2026-01-01T00:00:00Z")
    newer = a_slice("b", 20_001, "2026-01-02T00:00:00Z")
    assert choose_port("a", [newer, older]) == 20_001
    assert choose_port("b", [newer, older]) != 20_001


def test_a_port_that_was_given_a_moment_ago_is_spared() -> None:
    port = choose_port("a", [])
    assert port is not None
    assert choose_port("a", [], spared={port}) == (port + 1 if port < LAST_PORT else FIRST_PORT)


def test_when_all_are_taken_there_is_none() -> None:
    assert choose_port("a", [], spared=range(FIRST_PORT, LAST_PORT + 1)) is None


@pytest.mark.parametrize(
    ("suspended", "ready", "sleeps", "wanted"),
    [
        (False, True, False, False),
        (False, True, True, True),
        (False, False, False, True),
        (True, False, True, False),
    ],
)
def test_requests_go_to_activators_while_no_replica_is_ready_and_before_the_last_one_goes(
    suspended: bool,
    ready: bool,
    sleeps: bool,
    wanted: bool,
) -> None:
    assert wants_activators(suspended=suspended, ready=ready, sleeps=sleeps) == wanted


def test_the_address_type_is_that_of_the_slice_there_is_else_of_the_activators() -> None:
    six, four = Activator("fd00::1"), Activator("10.0.0.1")
    assert address_type_of([], None) is None
    assert address_type_of([six], None) == "IPv6"
    assert address_type_of([six], OURS) == "IPv4"
    assert of_type([six, four], "IPv4") == (four,)


def a_service(generation: int = 1, **reasons: tuple[str, str, str]) -> Manifest:
    """A resource whose conditions have these statuses, reasons and messages."""
    conditions = [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, (status, reason, message) in reasons.items()
    ]
    status = {"observedGeneration": generation, "conditions": conditions}
    return an_llmservice(metadata__generation=1, status=status)


WRONG_FLAG = ("False", "WrongArgument", "a")


@pytest.mark.parametrize(
    ("body", "trouble"),
    [
        (an_llmservice(), ("", False)),
        (a_service(Ready=("True", "Asleep", "a")), ("", False)),
        (a_service(Ready=("False", "Loading", "a")), ("", False)),
        (a_service(Ready=("False", "ActivatorMissing", "a")), ("", False)),
        (a_service(Ready=WRONG_FLAG), ("WrongArgument", False)),
        (a_service(Ready=WRONG_FLAG, Reconciling=("True", "WrongArgument", "a")), ("WrongArgument", False)),
        (a_service(Ready=WRONG_FLAG, Stalled=("True", "WrongArgument", "a")), ("WrongArgument", True)),
        (a_service(Ready=WRONG_FLAG, Stalled=("True", "WrongArgument", "went back")), ("WrongArgument", False)),
        (a_service(0, Ready=WRONG_FLAG, Stalled=("True", "WrongArgument", "a")), ("", False)),
    ],
    ids=["new", "asleep", "loads", "no activator", "fails", "goes on", "hopeless", "taken back", "edited"],
)
def test_why_no_replica_becomes_ready_is_what_the_status_says_of_this_generation(
    body: Manifest, trouble: tuple[str, bool]
) -> None:
    assert trouble_in(body) == trouble
