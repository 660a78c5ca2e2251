"""Whether a claim suits its service: the table of `claims`."""

import pytest

from llmservice.planning.claim_checks import claim_problems, is_for_one_node, may_have_several
from tests.unit.planning.claims import CASES, Case, a_claim
from tests.unit.planning.planned import planned


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_found_and_what_refuses_comes_first(case: Case) -> None:
    problems = claim_problems(case.claim, case.plan(), case.volume)
    assert tuple((str(problem.reason), problem.refuses) for problem in problems) == case.found
    assert all(word in " ".join(problem.message for problem in problems) for word in case.says)


def test_a_service_without_a_cache_has_no_claim_to_check() -> None:
    assert claim_problems(a_claim("ReadOnlyMany", status__phase="Lost"), planned()) == ()


def test_a_claim_that_many_nodes_may_mount_is_not_for_one_node() -> None:
    assert [is_for_one_node(a_claim(*modes)) for modes in (["ReadWriteOnce"], ["ReadWriteMany"], [])] == [
        True,
        False,
        False,
    ]


def test_a_new_replica_beside_the_old_one_counts_as_several() -> None:
    surging = planned(spec__rollout__strategy="Surge")
    assert [may_have_several(plan) for plan in (surging, planned(spec__rollout__strategy="Replace"))] == [True, False]


def test_names_of_strangers_are_cut() -> None:
    case = next(case for case in CASES if case.name == "for readers")
    long = a_claim(*["ReadOnlyMany" * 100] * 50)
    (problem,) = claim_problems(long, case.plan())
    assert len(problem.message) < 1000
