"""Which of a pod's Events show that its container cannot be created yet, and their diagnosis."""

import dataclasses
from typing import Any

import pytest

from llmservice.converging.preparation import Preparation, preparation, preparation_failure


def an_event(reason: str, second: int, message: str = "told", *, first: int | None = None) -> dict[str, Any]:
    return {
        "reason": reason,
        "message": message,
        "metadata": {"creationTimestamp": _at(second)},
        "firstTimestamp": _at(second if first is None else first),
        "lastTimestamp": _at(second),
    }


def _at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}Z"


FAILED = an_event("FailedMount", 5, "no such file", first=2)
PULLING = 'Pulling image "registry.test/e:1"'
PULLS = Preparation(over=True, pulling="registry.test/e:1", pulling_since=_at(6))
HELD_UP = Preparation(reason="FailedMount", warning="no such file", since=_at(2))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([], Preparation()),
        ([an_event("Scheduled", 1), FAILED], HELD_UP),
        ([FAILED, an_event("FailedScheduling", 9, "0/1 nodes are available: 1 Insufficient cpu")], HELD_UP),
        ([an_event("FailedScheduling", 1, "0/1 nodes are available"), an_event("Scheduled", 2)], Preparation()),
        ([an_event("FailedMount", 3, "not there yet", first=1), FAILED], dataclasses.replace(HELD_UP, since=_at(1))),
        ([FAILED, an_event("Pulling", 6)], Preparation(over=True)),
        ([an_event("Pulling", 6, PULLING)], PULLS),
        ([an_event("Pulling", 6, PULLING, first=2), an_event("BackOff", 4)], PULLS),
        ([an_event("Pulling", 6, PULLING), an_event("Pulled", 6)], Preparation(over=True)),
        ([an_event("Failed", 5), an_event("BackOff", 7), an_event("Pulling", 6, PULLING)], Preparation(over=True)),
        ([FAILED, an_event("Pulled", 5)], Preparation(over=True)),
        ([an_event("Pulled", 1), FAILED], HELD_UP),
    ],
    ids=[
        *("silent", "held up", "scheduler later", "scheduler first", "two texts", "over"),
        *("pulls", "pulls again", "pulled in the same second", "pull failed", "at once", "made again"),
    ],
)
def test_reads_how_far_the_kubelet_is_from_its_events(events: list[dict[str, Any]], expected: Preparation) -> None:
    assert preparation(events) == expected
    assert preparation(reversed(events)) == expected


@pytest.mark.parametrize(
    ("reason", "message", "meaning", "names", "startup_grace_seconds"),
    [
        ("FailedMount", "no such file", "VolumeMountFailed", "spec.model.uri", 10),
        ("FailedMount", 'configmap "templates" not found', "ConfigMapNotFound", "namespace ml", 10),
        ("FailedAttachVolume", "multi-attach error", "VolumeMountFailed", "spec.engineOptions.files", 10),
        ("FailedCreatePodSandBox", 'no runtime for "nvidia"', "PodSandboxFailed", "spec.pod.runtimeClassName", 20),
        ("NetworkNotReady", "cni plugin not initialized", "PodSandboxFailed", "network", 20),
    ],
)
def test_a_warning_is_self_healing_and_names_what_to_check(
    reason: str, message: str, meaning: str, names: str, startup_grace_seconds: float
) -> None:
    found = preparation_failure(Preparation(reason=reason, warning=message, since=_at(2)), "ml")
    assert found is not None
    assert (found.reason, found.self_healing, found.since) == (meaning, True, _at(2))
    assert found.startup_grace_seconds == startup_grace_seconds
    assert names in found.message


@pytest.mark.parametrize("known", [Preparation(), Preparation(over=True)])
def test_without_a_warning_nothing_is_wrong(known: Preparation) -> None:
    assert preparation_failure(known, "ml") is None
