"""What is wrong with a workload: one reason, and one sentence with the remedy."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.redaction import redacted

_LONGEST = 400
_READ = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One reason and one sentence. `self_healing` is true when it may end without an edit of the resource.

    `uncertain` is true where nobody can tell that: a crash without a word, a registry that does not answer. Of all
    other causes `failed_starts` of one pod prove that no time helps (`converging/hopeless.py`).

    `since` is an RFC 3339 time for causes that are normal in a starting pod for up to `startup_grace_seconds`: a claim
    that is not bound yet, a cache of the kubelet that lags behind, a network that is being set up.
    """

    reason: Reason
    message: str
    self_healing: bool = False
    uncertain: bool = False
    failed_starts: int = 3
    since: str = ""
    startup_grace_seconds: float = 10.0


def sentence(text: object) -> str:
    """One redacted line without a final full stop, short enough for a condition."""
    line = " ".join(redacted(str(text), _READ).split()).rstrip(".;")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
