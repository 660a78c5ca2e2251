"""Generated attacks: resources, pods that answer badly, and logs; `SEED=` repeats them."""

import pytest

from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.settings import SEED
from tests.hostile.steps import assert_at_rest, assert_read, make_generated

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile]

WAVE = 100
"""So many at a time, so that each of their pods is asked within two rounds."""


def test_2000_generated_services_pods_and_logs(tenants: Neighbourhood) -> None:
    with tenants.attacked(f"2,000 generated resources, pods and logs (SEED={SEED})"):
        for first in range(0, 2000, WAVE):
            with tenants.tenant() as tenant:
                numbers = range(first, first + WAVE)
                make_generated(tenant, numbers)
                tenants.metrics_targets()
                tenants.hold(1.5 * ROUND_SECONDS)
                assert tenants.is_well(), f"ended, or ill, by resources {numbers} of SEED={SEED}"
    assert_read(tenants)
    assert_at_rest(tenants)
