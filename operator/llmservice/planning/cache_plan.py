"""What is decided about the claim that a model is downloaded to."""

from dataclasses import dataclass

from llmservice.models.download_request import DownloadRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedClaim:
    """A claim that the operator makes. `size` is a quantity; an empty `storage_class` is the cluster's default."""

    storage_class: str
    size: str
    access_modes: tuple[str, ...]
    retained: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePlan:
    """The claim that the model is downloaded to before replicas start.

    `owned` is None for a claim of the user's. `expected_bytes` is 0 where the size of the model is not known.
    `weights` is what the engine loads, a path relative to the root of the claim; empty until the download said it.
    `missing` are the downloads of what is loaded beside the model that did not answer yet.
    """

    claim: str
    request: DownloadRequest
    owned: OwnedClaim | None = None
    expected_bytes: int = 0
    weights: str = ""
    missing: tuple[DownloadRequest, ...] = ()
