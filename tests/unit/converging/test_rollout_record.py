"""What is kept of a rollout on its Deployment, and what counts as a new pod template."""

import copy

import pytest

from llmservice.converging.intent import with_digest
from llmservice.converging.rollout_record import (
    LONGEST_MESSAGE,
    RolloutRecord,
    changes_template,
    record_of,
    recorded,
    template_digest,
)
from llmservice.objects.names import ROLLOUT_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.rendering.deployment import deployment
from tests.unit.converging.plans import a_plan


def an_intent(**template: object) -> Manifest:
    made = copy.deepcopy(deployment(a_plan(), None))
    made["spec"]["template"]["spec"].update(template)
    return made


@pytest.mark.parametrize("message", ["", "1 of 4 L4 free", "x" * 300, "ends with a space " + "x" * 181 + " y"])
@pytest.mark.parametrize("strategy", ["Replace", "Surge"])
def test_a_record_is_read_as_it_was_written(strategy: str, message: str) -> None:
    intent = an_intent()
    record = RolloutRecord(template_digest(intent), strategy, message)
    live = recorded(intent, record)
    known = record_of(live)
    assert known is not None
    assert (known.template, known.strategy, known.as_text()) == (record.template, strategy, record.as_text())
    assert len(live["metadata"]["annotations"][ROLLOUT_ANNOTATION]) <= LONGEST_MESSAGE + 33
    shape = live["spec"]["strategy"]["rollingUpdate"]
    assert shape == {"maxSurge": int(strategy == "Surge"), "maxUnavailable": int(strategy == "Replace")}


@pytest.mark.parametrize("text", ["", "Surge", "0" * 24, f"{'0' * 24} Recreate", f"{'0' * 24} Surge {'x' * 500}"])
def test_what_others_write_there_is_no_record(text: str) -> None:
    live = an_intent()
    live["metadata"]["annotations"][ROLLOUT_ANNOTATION] = text
    assert record_of(live) is None


def test_with_a_record_only_another_template_is_a_change() -> None:
    intent = an_intent()
    live = recorded(intent, RolloutRecord(template_digest(intent)))
    assert not changes_template(live, recorded(intent, RolloutRecord("0" * 24, "Surge")))
    assert changes_template(live, an_intent(terminationGracePeriodSeconds=5))
    dropped = an_intent()
    del dropped["spec"]["template"]["spec"]["enableServiceLinks"]
    assert changes_template(live, dropped)


def test_without_a_record_the_fields_tell() -> None:
    live = with_digest(an_intent())
    assert not changes_template(live, an_intent())
    assert changes_template(live, an_intent(terminationGracePeriodSeconds=5))
    other = an_intent()
    other["spec"]["progressDeadlineSeconds"] = 5
    assert not changes_template(live, other)
    dropped = an_intent()
    del dropped["spec"]["template"]["spec"]["enableServiceLinks"]
    assert changes_template(live, dropped)
