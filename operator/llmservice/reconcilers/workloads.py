"""The workload of a resource and its pods, as the caches have them."""

from llmservice.cluster.caching.cache import ObjectCache
from llmservice.objects.pods import pods_of
from llmservice.objects.references import Manifest, Ref, controller_uid, uid_of
from llmservice.objects.workloads import WORKLOADS, newest_of


def workload_in_cache(cache: ObjectCache, body: Manifest) -> Manifest | None:
    """The workload that the resource controls; None where there is none."""
    namespace, name = body["metadata"]["namespace"], body["metadata"]["name"]
    found = (cache.get(Ref(kind, namespace, name)) for kind in WORKLOADS)
    return newest_of(each for each in found if each is not None and controller_uid(each) == uid_of(body))


def pods_in_cache(cache: ObjectCache, workload: Manifest | None) -> tuple[Manifest, ...]:
    """All pods of a workload, those of a group that answer nobody too."""
    if workload is None:
        return ()
    key = workload["metadata"]["namespace"], workload["metadata"]["name"]
    return pods_of(workload, cache.of_service("ReplicaSet", *key), cache.of_service("Pod", *key))
