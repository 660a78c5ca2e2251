"""What a tenant, or somebody beside them, puts in the operator's way is not taken, and not taken for ours."""

import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest

from tests.cluster.kube import Body, Kube, Rejected
from tests.cluster.services import a_tiny_service
from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.services import played
from tests.hostile.settings import SEED

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile]

SELECTOR = {"whose": "a-strangers"}


def a_service(name: str) -> Body:
    ports = [{"port": 80, "targetPort": 8000}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"selector": SELECTOR, "ports": ports},
    }


def test_a_service_made_between_look_and_write_stays_its_makers(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked("300 Services made just before the operator makes its own"):
        assert race(tenant, 300) > 0, "the operator was always first: the test shows nothing"


@pytest.mark.quick
def test_a_few_services_made_between_look_and_write_stay_their_makers(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked("40 Services made just before the operator makes its own"):
        assert race(tenant, 40) > 0, "the operator was always first: the test shows nothing"


@pytest.mark.quick
def test_pods_of_an_invented_replica_set_are_never_asked(tenants: Neighbourhood) -> None:
    """Ready, with the service's labels, and a controller that has the right name: only its UID is nobody's."""
    with tenants.tenant() as tenant, tenants.attacked("pods that name a ReplicaSet with an invented UID"):
        tenant.create(played("chat", "ready honest"))
        (real,) = tenant.wait(lambda: tenant.list("Pod") or None, lambda: tenant.list("Deployment"))
        invented = [fake(tenants, tenant, real, group) for group in ("apps/v1", "hostile.example/v1")]
        tenants.hold(2.5 * ROUND_SECONDS)
        asked = tenants.engines.asked()
        assert asked[tenants.node.addresses[tenant.namespace, real["metadata"]["name"]]] > 0, "nobody was asked"
        assert [asked[address] for address in invented] == [0, 0], "invented pods were asked for their metrics"


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


def fake(tenants: Neighbourhood, tenant: Kube, real: Body, group: str) -> str:
    """A pod as its Deployment would make it; returns the address it claims.

    The garbage collector ends pods of an owner that is not there, but not those of a kind that nobody serves.
    """
    metadata = {key: real["metadata"][key] for key in ("labels", "annotations")}
    (owner,) = real["metadata"]["ownerReferences"]
    name = f"{owner['name']}-{group.partition('/')[0].replace('.', '-')}"
    invented = {**owner, "apiVersion": group, "uid": "00000000-0000-4000-8000-000000000000"}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {**metadata, "name": name, "ownerReferences": [invented]}}
    tenant.create({**body, "spec": {**real["spec"], "nodeName": None}})
    return tenant.wait(
        lambda: tenants.node.addresses.get((tenant.namespace, name)), lambda: tenant.get("Pod", name), seconds=20
    )
