"""The page of every reason of a condition, each with an anchor of its own."""

from collections.abc import Iterable, Iterator, Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.reasons import Meaning

_HEAD = """\
# Reasons

Every condition and every Event of an LLMService carries one of these; the message beside it has the names and numbers.
The address of a reason on this page ends in its name: `#kvcachetoosmall`. By symptom instead:
[troubleshooting](../how-to/troubleshooting.md).
"""

GROUPS: Mapping[Reason, str] = {
    Reason.READY: "State, and the steps of a start",
    Reason.DOWNLOADING: "Weights on a claim",
    Reason.ROLLOUT_PLAN: "Changes",
    Reason.INVALID_SPEC: "What the resource asks for",
    Reason.FITS: "Whether the model fits",
    Reason.NAME_CONFLICT: "Other writers, and rules of the cluster",
    Reason.UNSCHEDULABLE: "Pods that do not come up",
    Reason.CRASH_LOOPING: "Engines and models that do not start",
    Reason.ACCELERATOR_IN_USE: "Whether the GPU is used",
    Reason.ENGINE_UNRESPONSIVE: "Engines and nodes in service",
    Reason.NEWER_PLAN: "Upgrades of the operator",
    Reason.LOAD_ROSE: "Autoscaling",
}
"""The first reason of each group, in the order of the list, and the group's title."""


def reasons_page(meanings: Mapping[Reason, Meaning], causes: Iterable[Reason]) -> str:
    """The page as Markdown, in the order of `meanings`; `causes` has the reasons that causes.md has a section of."""
    return _HEAD + "".join(_sections(meanings, frozenset(causes)))


def _sections(meanings: Mapping[Reason, Meaning], with_causes: frozenset[Reason]) -> Iterator[str]:
    for reason, text in meanings.items():
        if reason in GROUPS:
            yield f"\n## {GROUPS[reason]}\n"
        yield f"\n### {reason}\n\n{text.meaning}\n\n**What to do:** {text.remedy}\n"
        if reason in with_causes:
            yield f"\n[Causes that are read from an engine's log](causes.md#{reason.lower()})\n"
