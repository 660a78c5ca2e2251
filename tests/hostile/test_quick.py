"""All kinds of attacks at once, for `make test`: of the full run each has a row of its own in the table."""

import pytest

from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.services import largest_admitted, played, with_dashes
from tests.hostile.steps import assert_asked, assert_read, make_generated, wait_played
from tests.hostile.strangers import fakes, race

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile, pytest.mark.quick]

ANSWERS = ("dashes-in-a-label", "hash-line", "location", "large", "drip", "silence")
WORDS = ("dashes", "not-utf-8")


def test_all_kinds_of_attacks_at_once(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant:
        count, letters = largest_admitted(tenant, with_dashes)
        with tenants.attacked("all kinds of attacks at once, each of them small"):
            tenant.create(with_dashes("arguments", count, letters))
            for answer in ANSWERS:
                tenant.create(played(answer, f"ready {answer}", replicas=4))
            for words in WORDS:
                tenant.create(played(f"crash-{words}", f"crash {words}", replicas=2))
            tenant.create(played("faked", "ready honest"))
            _, *invented = fakes(tenants, tenant, "faked")
            make_generated(tenant, range(60))
            assert race(tenant, 30) > 0
            wait_played(tenants, tenant, 4 * len(ANSWERS) + 2 * len(WORDS))
            tenants.hold(1.5 * ROUND_SECONDS)
            assert_asked(tenants, tenant)
            assert_read(tenants)
            assert [tenants.engines.asked()[address] for address in invented] == [0, 0]
