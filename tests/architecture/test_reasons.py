"""The closed list of reasons is the list of reasons in use."""

from pathlib import Path

import pytest

from llmservice.api.v1alpha1.conditions import Reason

SOURCE = Path(__file__).parents[2] / "operator" / "llmservice"
CODE = "\n".join(file.read_text("utf-8") for file in SOURCE.rglob("*.py") if file.name != "reasons.py")


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_used_somewhere(reason: Reason) -> None:
    assert f"Reason.{reason.name}" in CODE
