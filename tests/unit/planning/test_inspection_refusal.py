"""Which failures of an inspection refuse a service, and by which field."""

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.model import Model
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.planning.inspection_refusal import refusal_of

HUB, CLAIM = Model(uri="hf://owner/name"), Model(uri="pvc://claim/model")
DENIED, ABSENT = Reason.MODEL_ACCESS_DENIED, Reason.MODEL_NOT_FOUND


@pytest.mark.parametrize(
    ("failure", "model", "reason", "field"),
    [
        (FailureReason.GATED, HUB, DENIED, "spec.model.tokenSecretRef"),
        (FailureReason.TOKEN_REFUSED, HUB, DENIED, "spec.model.tokenSecretRef"),
        (FailureReason.REPOSITORY_UNKNOWN, HUB, ABSENT, "spec.model.uri"),
        (FailureReason.REVISION_UNKNOWN, HUB, ABSENT, "spec.model.revision"),
        (FailureReason.FILE_MISSING, Model(uri="a/b", file="x.gguf"), ABSENT, "spec.model.file"),
        (FailureReason.FILE_MISSING, CLAIM, ABSENT, "spec.model.uri"),
    ],
)
def test_what_no_engine_gets_past_is_refused_by_its_field(
    failure: FailureReason, model: Model, reason: Reason, field: str
) -> None:
    found = refusal_of(InspectionFailure(failure, "this is why"), model)
    assert found is not None
    assert (found[0], found[2]) == (reason, field)
    assert found[1].startswith("this is why; ")


@pytest.mark.parametrize(
    "failure", [FailureReason.THROTTLED, FailureReason.NO_ROUTE, FailureReason.NOT_A_MODEL, FailureReason.TOO_LARGE]
)
def test_what_an_engine_may_get_past_is_not_refused(failure: FailureReason) -> None:
    assert refusal_of(InspectionFailure(failure, ""), HUB) is None


def test_of_a_repository_the_engine_may_choose_a_file_itself() -> None:
    assert refusal_of(InspectionFailure(FailureReason.FILE_MISSING, "several"), HUB) is None
