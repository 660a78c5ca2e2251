"""What follows from the size of a model that somebody says is huge."""

from typing import Any

import pytest

from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.converging.fits import fits_condition
from tests.unit.planning.knowing import vllm
from tests.unit.planning.planned import planned


@pytest.mark.parametrize("gpu", [{"count": 0}, {"type": "H200", "count": 8}])
@pytest.mark.parametrize("uri", ["acme/own", "pvc://models/own"])
@pytest.mark.parametrize("size", [{"fileBytes": 2**53}, {"parameters": 2**50}, {}])
def test_whatever_is_said_of_a_model_amounts_and_times_are_some_that_kubernetes_takes(
    gpu: dict[str, Any], uri: str, size: dict[str, int]
) -> None:
    widths = dict.fromkeys(("hiddenSize", "intermediateSize", "vocabulary", "headSize", "heads", "kvHeads"), 2**26)
    facts = {"layers": 10_000, **widths, **size}
    plan = planned(**vllm(uri, fit="Warn", model__facts=facts) | {"spec__gpu": gpu})
    amounts = {**plan.container.resource_requests, **plan.container.resource_limits}
    assert all(amount_of(amount) < 10**15 for amount in amounts.values())
    assert plan.rollout.progress_deadline_seconds < 2**31
    assert fits_condition(plan.fit) is not None or gpu["count"] == 0
