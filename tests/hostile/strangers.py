"""What is put in the operator's way under names that it is going to use, or looks like its own."""

import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

from tests.cluster.kube import Body, Kube, Rejected
from tests.cluster.services import a_tiny_service
from tests.hostile.neighbourhood import Neighbourhood
from tests.hostile.settings import SEED

SELECTOR = {"whose": "a-strangers"}


def a_service(name: str) -> Body:
    """A Service of somebody else."""
    ports = [{"port": 80, "targetPort": 8000}]
    spec = {"selector": SELECTOR, "ports": ports}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def race(tenant: Kube, count: int) -> int:
    """Make LLMServices, and Services of their names a moment later; how many of the Services came first.

    Asserts that each of those is still as it was made.
    """
    random, first = Random(SEED), []
    with ThreadPoolExecutor(2) as pool:
        for number in range(count):
            name = f"race-{number}"
            made = pool.submit(tenant.create, a_tiny_service(name, suspend=True))
            time.sleep(random.uniform(0.0, 0.06))
            try:
                tenant.create(a_service(name))
            except Rejected:
                made.result()
                continue
            made.result()
            first.append(name)
    time.sleep(3)
    changed = [service for name in first if (service := tenant.get("Service", name)) and is_changed(service)]
    assert changed == [], f"{len(changed)} of {len(first)} Services of others were taken"
    return len(first)


def is_changed(service: Body) -> bool:
    return service["spec"]["selector"] != SELECTOR or "ownerReferences" in service["metadata"]


def fakes(tenants: Neighbourhood, tenant: Kube, service: str) -> list[str]:
    """Beside the pod of a service two that name its ReplicaSet by another UID; the addresses of all three, its first.

    The garbage collector ends pods of an owner that is not there, but not those of a kind that nobody serves. One that
    it ended before its node had seen it has the address "".
    """

    def address_of(name: str) -> str:
        key = (tenant.namespace, name)

        def look() -> str | None:
            return tenants.node.addresses.get(key) or (None if tenant.get("Pod", name) else "")

        return tenant.wait(look, lambda: tenant.get("Pod", name), seconds=30)

    (real,) = tenant.wait(
        lambda: tenant.list("Pod", f"llmservice.dev/name={service}") or None, lambda: tenant.list("Deployment")
    )
    invented = [_fake(real, group) for group in ("apps/v1", "hostile.example/v1")]
    for body in invented:
        tenant.create(body)
    return [address_of(body["metadata"]["name"]) for body in (real, *invented)]


def _fake(real: Body, group: str) -> Body:
    """A pod as its Deployment would make it, but for the UID of its ReplicaSet."""
    metadata = {key: real["metadata"][key] for key in ("labels", "annotations")}
    (owner,) = real["metadata"]["ownerReferences"]
    name = f"{owner['name']}-{group.partition('/')[0].replace('.', '-')}"
    invented = {**owner, "apiVersion": group, "uid": "00000000-0000-4000-8000-000000000000"}
    spec = {**real["spec"], "nodeName": None}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "name": name, "ownerReferences": [invented]},
        "spec": spec,
    }
