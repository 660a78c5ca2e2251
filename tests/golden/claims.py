"""Claims that do not suit their service: one of every kind that has a sentence of its own."""

from collections.abc import Iterator

from llmservice.planning.claim_checks import claim_problems
from tests.unit.planning.claims import CASES


def sentences() -> Iterator[str]:
    """What is said of each."""
    for case in CASES:
        for problem in claim_problems(case.claim, case.plan(), case.volume):
            what = "refused" if problem.refuses else "told"
            yield f"{problem.reason}, {what}: {problem.message}"
