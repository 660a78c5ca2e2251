"""Why a model is not on its claim after a download, what to do about it, and whether to try again."""

from dataclasses import dataclass
from enum import StrEnum


class DownloadFailureReason(StrEnum):
    """What kept a download from its end. Those of a hub have the names that an inspection gives them."""

    GATED = "Gated"
    REPOSITORY_UNKNOWN = "RepositoryUnknown"
    REVISION_UNKNOWN = "RevisionUnknown"
    FILE_MISSING = "FileMissing"
    THROTTLED = "Throttled"
    NO_ROUTE = "NoRoute"
    TOKEN_REFUSED = "TokenRefused"  # noqa: S105  (a reason, not a secret)
    NOT_A_MODEL = "NotAModel"
    TOO_LARGE = "TooLarge"
    BUCKET_UNKNOWN = "BucketUnknown"
    BUCKET_DENIED = "BucketDenied"
    DISK_FULL = "DiskFull"
    NOT_WRITABLE = "NotWritable"
    CHECKSUM_MISMATCH = "ChecksumMismatch"
    TIMED_OUT = "TimedOut"
    INTERRUPTED = "Interrupted"
    NO_ANSWER = "NoAnswer"


_R = DownloadFailureReason

_REMEDIES = {
    _R.GATED: (
        "accept the model's licence on its page with the account of the token, and set spec.model.tokenSecretRef"
    ),
    _R.REPOSITORY_UNKNOWN: (
        "correct spec.model.uri; a private model needs a token that may read it in spec.model.tokenSecretRef"
    ),
    _R.REVISION_UNKNOWN: "correct spec.model.revision, or leave it out for the main branch",
    _R.FILE_MISSING: "correct spec.model.uri, or name a file that is there in spec.model.file",
    _R.THROTTLED: (
        "set spec.model.tokenSecretRef, as the hub allows more with a token; use a mirror, or a claim (pvc://)"
    ),
    _R.NO_ROUTE: (
        "let a NetworkPolicy admit the way out, or set a mirror, a proxy or the certificate authority's file; what is "
        "on the claim stays there"
    ),
    _R.TOKEN_REFUSED: "give spec.model.tokenSecretRef a valid token that may read this model",
    _R.NOT_A_MODEL: "name a model with safetensors files, or a GGUF file",
    _R.TOO_LARGE: "see whether it is a model at all; copy it to the claim by hand and serve it from there (pvc://)",
    _R.BUCKET_UNKNOWN: "correct the bucket in spec.model.uri, and its region and endpoint in the environment",
    _R.BUCKET_DENIED: "let the keys, or the identity of the service account, list the bucket and read its objects",
    _R.DISK_FULL: "make the claim larger, or delete models from it that nobody serves",
    _R.NOT_WRITABLE: "let the Job's user write to the claim: see its access mode, and fsGroup of the pod",
    _R.CHECKSUM_MISMATCH: "look at the proxy or mirror between: it changes bytes; the wrong file was removed",
    _R.TIMED_OUT: "no edit is needed: the next try goes on where this one ended",
    _R.INTERRUPTED: "no edit is needed: the next try goes on where this one ended",
    _R.NO_ANSWER: "look at the logs of the Job's pod; where it was killed for memory, give it more",
}
_WORTH_RETRYING = frozenset(
    {
        _R.THROTTLED,
        _R.NO_ROUTE,
        _R.DISK_FULL,  # somebody may delete a model, or resize the claim
        _R.CHECKSUM_MISMATCH,
        _R.TIMED_OUT,
        _R.INTERRUPTED,
        _R.NO_ANSWER,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadFailure:
    """What went wrong, in a sentence; the remedy belongs to the reason.

    Bytes, 0 where they do not matter or are not known: `needed` and `free` of a full disk, `done` of `total` that are
    on the claim.
    """

    reason: DownloadFailureReason
    message: str
    needed: int = 0
    free: int = 0
    done: int = 0
    total: int = 0

    @property
    def remedy(self) -> str:
        """What to do about it, in the words of a resource."""
        return _REMEDIES[self.reason]

    @property
    def is_worth_retrying(self) -> bool:
        """Whether the same download may succeed later although nobody changes the resource."""
        return self.reason in _WORTH_RETRYING

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}; {self.remedy}"
