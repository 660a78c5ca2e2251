"""All kinds of texts and answers at once, for `make test`: the table of the full run has a row for each."""

import pytest

from tests.hostile.neighbourhood import ROUND_SECONDS, Neighbourhood
from tests.hostile.services import largest_admitted, played, with_dashes
from tests.hostile.steps import assert_asked, assert_read, wait_played

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox, pytest.mark.hostile, pytest.mark.quick]

ANSWERS = ("dashes-in-a-label", "hash-line", "location", "large", "drip", "silence")
WORDS = ("dashes", "not-utf-8")


def test_hostile_texts_and_answers_all_at_once(tenants: Neighbourhood) -> None:
    with tenants.tenant() as tenant:
        count, letters = largest_admitted(tenant, with_dashes)
        with tenants.attacked("arguments, answers, logs and last words, all at once"):
            tenant.create(with_dashes("arguments", count, letters))
            for answer in ANSWERS:
                tenant.create(played(answer, f"ready {answer}", replicas=4))
            for words in WORDS:
                tenant.create(played(f"crash-{words}", f"crash {words}", replicas=2))
            wait_played(tenants, tenant, 4 * len(ANSWERS) + 2 * len(WORDS))
            tenants.hold(1.5 * ROUND_SECONDS)
            assert_asked(tenants, tenant)
    assert_read(tenants)
