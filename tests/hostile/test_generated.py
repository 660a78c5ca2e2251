"""Generated attacks: resources, pods that answer badly, and logs; `SEED=` repeats them."""

import pytest

from tests.cluster.kube import Kube, Rejected
from tests.hostile.generated import generated
from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.settings import SEED
from tests.hostile.steps import assert_read, at_once

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile]

WAVE = 100
"""So many at a time, so that each of their pods is asked within two rounds."""


def test_2000_generated_services_pods_and_logs(tenants: Neighbourhood) -> None:
    with tenants.attacked(f"2,000 generated resources, pods and logs (SEED={SEED})"):
        for first in range(0, 2000, WAVE):
            with tenants.tenant() as tenant:
                play(tenants, tenant, range(first, first + WAVE))
    assert_read(tenants)


@pytest.mark.quick
def test_60_generated_services_pods_and_logs(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked(f"60 generated resources, pods and logs (SEED={SEED})"):
        play(tenants, tenant, range(60))
    assert_read(tenants)


def play(tenants: Neighbourhood, tenant: Kube, numbers: range) -> None:
    """Make them and let them do their worst."""
    refused: list[str] = []

    def make(number: int) -> None:
        try:
            tenant.create(generated(SEED, number))
        except Rejected as rejected:
            refused.append(f"{number}: {rejected}")

    at_once(make, numbers)
    assert len(refused) < len(numbers) / 2, f"most are refused, so little is tested: {refused[:3]}"
    tenants.hold(1.5 * ROUND_SECONDS)
    tenants.metrics_targets()
    assert tenants.is_well(), f"ended, or ill, by resources {numbers} of SEED={SEED}"
