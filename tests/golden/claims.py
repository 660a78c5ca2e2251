"""Claims that do not suit their service: one of every kind that has a sentence of its own."""

from collections.abc import Iterator

from llmservice.converging.image_volumes import check_image_volumes
from llmservice.converging.intent import with_digest
from llmservice.errors import Refused
from llmservice.objects.references import Manifest
from llmservice.planning.claim_checks import claim_problems
from tests.unit.planning.claims import CASES


def sentences() -> Iterator[str]:
    """What is said of each."""
    for case in CASES:
        for problem in claim_problems(case.claim, case.plan(), case.volume):
            what = "refused" if problem.refuses else "told"
            yield f"{problem.reason}, {what}: {problem.message}"
    wanted = _with_volumes([{"name": "models", "image": {"reference": "example.com/chat:1"}}])
    dropped = {**_with_volumes([]), "metadata": with_digest(wanted)["metadata"]}
    try:
        check_image_volumes([wanted], dropped)
    except Refused as refusal:
        yield f"{refusal.reason}: {refusal}"


def _with_volumes(volumes: list[Manifest]) -> Manifest:
    return {"kind": "Deployment", "metadata": {"name": "chat"}, "spec": {"template": {"spec": {"volumes": volumes}}}}
