from llmservice.cluster.caching.cache import ObjectCache
from llmservice.objects.references import Manifest, Ref
from tests.unit.cluster.objects import a_deployment

CHAT = Ref("Deployment", "default", "chat")


def version(cache: ObjectCache) -> str | None:
    live = cache.get(CHAT)
    return None if live is None else str(live["metadata"]["resourceVersion"])


def test_finds_an_object_by_reference() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=3))

    assert version(cache) == "3"
    assert cache.get(Ref("Deployment", "default", "other")) is None


def test_compares_versions_as_numbers() -> None:
    cache = ObjectCache()

    assert cache.put(a_deployment(version=9))
    assert cache.put(a_deployment(version=10))
    assert not cache.put(a_deployment(version=9))
    assert version(cache) == "10"


def test_what_is_kept_quietly_is_there_and_told_to_nobody() -> None:
    cache, told = ObjectCache(), list[Manifest | None]()
    cache.listen(lambda _, after: told.append(after))

    assert cache.put(a_deployment(version=3), quietly=True)
    assert (version(cache), told) == ("3", [])
    assert not cache.put(a_deployment(version=3))
    assert told == []


def test_the_same_version_again_is_no_news() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=3))

    assert not cache.put(a_deployment(version=3))


def test_an_answer_that_arrives_after_the_deletion_does_not_bring_the_object_back() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=3))
    cache.drop(CHAT, 5)

    assert not cache.put(a_deployment(version=4))
    assert version(cache) is None


def test_a_successor_of_a_deleted_object_is_kept() -> None:
    cache = ObjectCache()
    cache.drop(CHAT, 5)

    assert cache.put(a_deployment(version=6))


def test_a_late_deletion_does_not_take_a_successor() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=6))

    assert not cache.drop(CHAT, 5)
    assert version(cache) == "6"


def test_what_is_known_to_be_gone_is_taken_at_whatever_version() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=6, uid="u-1"))

    assert cache.drop_uid(CHAT, "u-1")
    assert not cache.put(a_deployment(version=6, uid="u-1"))


def test_an_object_that_is_known_to_be_gone_does_not_take_its_successor() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=6, uid="u-2"))

    assert not cache.drop_uid(CHAT, "u-1")
    assert version(cache) == "6"


def test_finds_objects_by_the_service_they_are_labelled_with() -> None:
    cache = ObjectCache()
    cache.put(a_deployment("one", service="chat"))
    cache.put(a_deployment("two", service="other"))

    assert [live["metadata"]["name"] for live in cache.of_service("Deployment", "default", "chat")] == ["one"]
    assert cache.of_service("Deployment", "elsewhere", "chat") == ()


def test_follows_a_changed_label() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=1, service="chat"))
    cache.put(a_deployment(version=2, service="other"))

    assert cache.of_service("Deployment", "default", "chat") == ()
    assert len(cache.of_service("Deployment", "default", "other")) == 1


def test_a_dropped_object_leaves_its_service() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=1, service="chat"))
    cache.drop(CHAT, 1)

    assert cache.of_service("Deployment", "default", "chat") == ()


def test_a_list_drops_what_vanished_and_says_so() -> None:
    cache = ObjectCache()
    cache.put(a_deployment("gone", version=1))
    cache.put(a_deployment("stays", version=2))
    vanished = cache.replace_all("Deployment", [a_deployment("stays", version=2), a_deployment("new", version=3)], 7)

    assert vanished == (Ref("Deployment", "default", "gone"),)
    assert {live["metadata"]["name"] for live in cache.of_kind("Deployment")} == {"stays", "new"}


def test_a_list_leaves_alone_what_was_written_after_it() -> None:
    cache = ObjectCache()
    cache.put(a_deployment("ours", version=9))

    assert cache.replace_all("Deployment", [], 7) == ()
    assert len(cache) == 1


def test_a_list_of_one_namespace_leaves_others_alone() -> None:
    cache = ObjectCache()
    cache.put(a_deployment("here", version=1))
    cache.put(a_deployment("there", version=1, namespace="elsewhere"))

    assert cache.replace_all("Deployment", [], 7, "default") == (Ref("Deployment", "default", "here"),)


def test_a_list_leaves_other_kinds_alone() -> None:
    cache = ObjectCache()
    cache.put({**a_deployment(), "kind": "Service"})

    assert cache.replace_all("Deployment", [], 7) == ()


def test_tells_listeners_before_and_after() -> None:
    cache, heard = ObjectCache(), []

    def listen(before: Manifest | None, after: Manifest | None) -> None:
        heard.append(tuple(live and live["metadata"]["resourceVersion"] for live in (before, after)))

    cache.listen(listen)
    cache.put(a_deployment(version=1))
    cache.put(a_deployment(version=2))
    cache.put(a_deployment(version=1))
    cache.replace_all("Deployment", [], 3)

    assert heard == [(None, "1"), ("1", "2"), ("2", None)]


def test_keeps_only_what_is_worth_keeping() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(managedFields=[{"manager": "kubectl"}]))
    live = cache.get(CHAT)

    assert live is not None
    assert "managedFields" not in live["metadata"]


def test_forgets_old_deletions() -> None:
    cache = ObjectCache()
    for number in range(10_050):
        cache.drop(Ref("Deployment", "default", str(number)), 5)

    assert len(cache._deleted) == 10_000


def test_a_list_overrules_what_claims_to_be_newer_up_to_its_own_version() -> None:
    """As after a restore that raises the revision, as etcdutl can: objects are older, the list is newer."""
    cache = ObjectCache()
    cache.put(a_deployment(version=90))
    cache.drop(Ref("Deployment", "default", "back"), 91)
    cache.replace_all("Deployment", [a_deployment(version=40), a_deployment("back", version=41)], 1000)

    assert version(cache) == "40"
    assert cache.get(Ref("Deployment", "default", "back")) is not None


def test_what_is_newer_than_a_list_stays() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=9))
    cache.drop(Ref("Deployment", "default", "gone"), 9)
    cache.replace_all("Deployment", [a_deployment(version=5), a_deployment("gone", version=5)], 7)

    assert [live["metadata"]["resourceVersion"] for live in cache.of_kind("Deployment")] == ["9"]


def test_in_another_history_nothing_known_before_counts() -> None:
    cache, told = ObjectCache(), list[str]()
    for name in ("changed", "same", "vanished"):
        cache.put(a_deployment(name, version=90))
    cache.drop(Ref("Deployment", "default", "back"), 95)
    cache.listen(lambda before, after: told.append((after or before or {})["metadata"]["name"]))
    listed = [a_deployment("changed", version=40), a_deployment("same", version=90), a_deployment("back", version=41)]
    cache.replace_all("Deployment", listed, 50, anew=True)

    assert sorted(told) == ["back", "changed", "same", "vanished"]
    assert cache.newest("Deployment") == 90, "one of them says so"
    assert cache.put(a_deployment("vanished", version=51)), "its deletion counts from the list on"


def test_knows_the_newest_version_heard_of_each_kind() -> None:
    cache = ObjectCache()
    cache.put(a_deployment(version=9))
    cache.put(a_deployment("other", version=4))
    cache.drop(CHAT, 12)
    cache.replace_all("Deployment", [], 10)

    assert (cache.newest("Deployment"), cache.newest("Pod")) == (12, -1)
    cache.replace_all("Deployment", [], 3, anew=True)
    assert cache.newest("Deployment") == 3
