"""What the operator writes is what the schema says."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.status import LLMServiceStatus
from llmservice.converging.progress import progress_of
from llmservice.converging.situation import Situation
from llmservice.converging.status import stalled, summarize
from tests.unit.converging.plans import a_deployment, a_plan, a_pod

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def a_summary() -> dict[str, Any]:
    deployment, pods = a_deployment(), (a_pod(),)
    situation = Situation(
        plan=a_plan(),
        progress=progress_of(deployment, pods),
        pods=pods,
        diagnosis=None,
        suspended=False,
        floor=1,
        before={},
    )
    return summarize(situation, NOW)


def test_a_summary_is_a_valid_status() -> None:
    status = LLMServiceStatus.model_validate(a_summary(), by_alias=True, by_name=False)
    assert status.as_json() == a_summary()


def test_a_stalled_status_is_valid() -> None:
    written = stalled({}, 3, Reason.INVALID_SPEC, "x" * 5000, NOW, progress=progress_of(None, ()))
    assert LLMServiceStatus.model_validate(written, by_alias=True, by_name=False).observed_generation == 3


def test_a_field_the_schema_lacks_is_found() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        LLMServiceStatus.model_validate({**a_summary(), "phase": "Running"}, by_alias=True, by_name=False)
