"""What each rule of a finding means and what to do about it: the reasons of conditions, and those of the command."""

from collections.abc import Mapping

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.reasons import MEANINGS, Meaning
from llmservice.cli.findings import Rule

_OWN: Mapping[Rule, Meaning] = {
    Rule.UNREADABLE: Meaning("The file cannot be read.", "Name a file that you may read."),
    Rule.NOT_UTF8: Meaning("The file is not UTF-8.", "Save it as UTF-8."),
    Rule.NOT_YAML: Meaning("The file is neither YAML nor JSON.", "Correct it at the line of the finding."),
    Rule.TOO_LARGE: Meaning("The file is larger than what is read.", "Split it."),
    Rule.NO_LLMSERVICE: Meaning(
        "None of the files holds an LLMService.",
        "Name a file that does; compare `apiVersion` and `kind` with an example.",
    ),
    Rule.REPEATED_KEY: Meaning("A field is given twice: the API server refuses it.", "Keep one of them."),
    Rule.REPEATED_NAME: Meaning(
        "Two resources have the same namespace and name: the last one applied would win.", "Rename or remove one."
    ),
    Rule.PLAN_NOTE: Meaning(
        "The service can run, and planning has something to say about it.", "What the message says, or nothing."
    ),
    Rule.OWN_IMAGE: Meaning(
        "The image is not the catalogue's, so nobody knows what is in it.",
        "Make sure that `spec.engineOptions.version` is the version that it was built from.",
    ),
    Rule.TIGHT: Meaning(
        "The model fits its devices by the optimistic estimate alone: it may not start.",
        "One of the changes that the message names, or nothing.",
    ),
    Rule.DOES_NOT_FIT: Meaning(
        "The model does not fit its devices, not even by the optimistic estimate.",
        "One of the changes that the message names.",
    ),
    Rule.NOT_INSPECTED: Meaning(
        "Too little is known of the model or its devices to say whether it fits.",
        "`llmservice inspect MODEL -o json` prints facts for `spec.model.facts`.",
    ),
}

_ALL = {str(rule): meaning for rule, meaning in (*_OWN.items(), *MEANINGS.items())}


def meaning_of(rule: str) -> Meaning:
    """The meaning of a rule; of one that nobody described, that of a spec that breaks the rules."""
    return _ALL.get(rule, MEANINGS[Reason.INVALID_SPEC])
