"""What somebody puts in the operator's way is not taken, and not taken for its own."""

import pytest

from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.services import played
from tests.hostile.strangers import fakes, race

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile]


def test_a_service_made_between_look_and_write_stays_its_makers(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant, tenants.attacked("300 Services made just before the operator makes its own"):
        assert race(tenant, 300) > 0, "the operator was always first: the test shows nothing"


def test_pods_of_an_invented_replica_set_are_never_asked(tenants: Neighbourhood) -> None:
    """Ready, with the service's labels, and a controller that has the right name: only its UID is nobody's."""
    with tenants.tenant() as tenant, tenants.attacked("pods that name a ReplicaSet with an invented UID"):
        tenant.create(played("chat", "ready honest"))
        real, *invented = fakes(tenants, tenant, "chat")
        tenants.hold(2.5 * ROUND_SECONDS)
        asked = tenants.engines.asked()
        assert asked[real] > 0, "nobody was asked: the test shows nothing"
        assert [asked[address] for address in invented] == [0, 0], "invented pods were asked for their metrics"
