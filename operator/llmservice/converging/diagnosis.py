"""What is wrong, as one reason and one sentence with the way out: what every look at the pods ends in."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.redaction import redacted

_LONGEST = 400
_READ = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """One reason and one sentence. `heals` is true when it ends by itself once the missing thing appears.

    `since` is Kubernetes' time as text where it may be a moment of every start, over within `may_pass_seconds`: a claim
    binds late, a cache follows, a network is made again.
    """

    reason: Reason
    message: str
    heals: bool = False
    since: str = ""
    may_pass_seconds: float = 10.0


def sentence(text: object) -> str:
    """One line without a full stop at its end, short enough for a condition; what an engine said may hold secrets."""
    line = " ".join(redacted(str(text), _READ).split()).rstrip(".;")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
