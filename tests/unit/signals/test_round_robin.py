"""In what order pods are asked."""

from dataclasses import replace

from llmservice.signals.round_robin import round_robin
from tests.unit.signals.fake_engine import a_target


def named(*names: str) -> list[str]:
    """The order of targets written as namespace/service/pod."""
    targets = [
        replace(a_target(), namespace=namespace, service=service, pod=pod)
        for namespace, service, pod in (name.split("/") for name in names)
    ]
    return [f"{each.namespace}/{each.service}/{each.pod}" for each in round_robin(targets)]


def test_namespaces_take_turns_and_so_do_the_services_of_one() -> None:
    assert named("a/x/0", "a/x/1", "a/x/2", "a/y/0", "b/z/0", "b/z/1") == [
        *("a/x/0", "b/z/0", "a/y/0", "b/z/1", "a/x/1", "a/x/2"),
    ]
