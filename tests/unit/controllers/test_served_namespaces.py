"""Namespaces whose objects may be listed, and those that wait without holding up the others."""

import asyncio

import pytest

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.cluster.watching.informer import Informer
from llmservice.cluster.watching.listing import Selection
from llmservice.controllers.served_namespaces import OnlyListed, ServedNamespaces
from llmservice.errors import NotYet
from llmservice.reconcilers.workers import ServiceKey


def informers(*namespaces: str) -> dict[str, Informer]:
    """One for each namespace; none has listed."""
    return {
        namespace: Informer(
            connection=None,  # type: ignore[arg-type]  # nobody connects here
            cache=ObjectCache(),
            selection=Selection(kind="Pod", namespace=namespace),
        )
        for namespace in namespaces
    }


def listed(informer: Informer) -> None:
    informer.synced.set()
    informer.answered.set()


async def settles(namespaces: ServedNamespaces) -> bool:
    """Whether it settles with what is known."""
    task = asyncio.create_task(namespaces.settled())
    for _ in range(50):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    return not task.cancelled()


async def test_waits_for_every_answer_and_for_one_whole_namespace() -> None:
    found = informers("a", "b")
    namespaces = ServedNamespaces(found.values())
    listed(found["a"])
    assert not await settles(namespaces), "b has not answered"
    found["b"].answered.set()
    assert await settles(namespaces)
    assert namespaces.unlisted() == ("b",)


@pytest.mark.parametrize("names", [("",), ("a",), ("a", "b")])
async def test_waits_where_everything_is_refused(names: tuple[str, ...]) -> None:
    found = informers(*names)
    for informer in found.values():
        informer.answered.set()
    assert not await settles(ServedNamespaces(found.values()))


async def test_works_on_nothing_in_a_namespace_that_is_not_listed_yet() -> None:
    seen: list[ServiceKey] = []

    async def reconcile(key: ServiceKey) -> float | None:
        seen.append(key)
        return 7.0

    found = informers("a", "b")

    async def refused(key: ServiceKey, why: str) -> float | None:
        told.append((key, why))
        return 20.0

    only_listed, told = OnlyListed(reconcile, ServedNamespaces(found.values()), refused), list[tuple[ServiceKey, str]]()
    listed(found["a"])
    assert await only_listed(("a", "chat")) == 7.0
    with pytest.raises(NotYet, match="the objects in b could not be listed yet"):
        await only_listed(("b", "chat"))
    found["b"].refusal = "pods is forbidden"
    assert await only_listed(("b", "chat")) == 20.0
    assert told == [(("b", "chat"), "Pod: pods is forbidden")]
    listed(found["b"])
    await only_listed(("b", "chat"))
    assert seen == [("a", "chat"), ("b", "chat")]


async def test_one_list_of_the_whole_cluster_covers_every_namespace() -> None:
    found = informers("")
    namespaces = ServedNamespaces(found.values())
    assert not namespaces.is_listed("a")
    listed(found[""])
    assert namespaces.is_listed("a")
    assert namespaces.any_listed()
