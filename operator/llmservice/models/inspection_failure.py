"""Why nothing is known of a model after it was looked at, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class FailureReason(StrEnum):
    """What kept an inspection from the facts."""

    GATED = "Gated"
    REPOSITORY_UNKNOWN = "RepositoryUnknown"
    REVISION_UNKNOWN = "RevisionUnknown"
    FILE_MISSING = "FileMissing"
    THROTTLED = "Throttled"
    NO_ROUTE = "NoRoute"
    TOKEN_REFUSED = "TokenRefused"  # noqa: S105  (a reason, not a secret)
    NOT_A_MODEL = "NotAModel"
    TOO_LARGE = "TooLarge"


_REMEDIES = {
    FailureReason.GATED: (
        "accept the model's licence on its page with the account of the token, and set spec.model.tokenSecretRef"
    ),
    FailureReason.REPOSITORY_UNKNOWN: (
        "correct spec.model.uri; a private model needs a token that may read it in spec.model.tokenSecretRef"
    ),
    FailureReason.REVISION_UNKNOWN: "correct spec.model.revision, or leave it out for the main branch",
    FailureReason.FILE_MISSING: "correct the path, or name a file that is there in spec.model.file",
    FailureReason.THROTTLED: (
        "set spec.model.tokenSecretRef, as the hub allows more with a token; use a mirror, or a claim (pvc://)"
    ),
    FailureReason.NO_ROUTE: (
        "let a NetworkPolicy admit the way out, or set a mirror, a proxy or the certificate authority's file; "
        "a claim (pvc://) needs no hub"
    ),
    FailureReason.TOKEN_REFUSED: "give spec.model.tokenSecretRef a valid token that may read this model",
    FailureReason.NOT_A_MODEL: "name a model with a config.json that transformers reads, or a GGUF file",
    FailureReason.TOO_LARGE: "see whether it is a model at all; its engine may read it nevertheless",
}


@dataclass(frozen=True, slots=True)
class InspectionFailure:
    """What went wrong, in a sentence; the remedy belongs to the reason."""

    reason: FailureReason
    message: str

    @property
    def remedy(self) -> str:
        """What to do about it, in the words of a resource."""
        return _REMEDIES[self.reason]

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}; {self.remedy}"
