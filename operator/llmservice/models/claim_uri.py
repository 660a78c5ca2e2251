"""A model on a claim, as its uri names it."""

from dataclasses import dataclass

CLAIM = "pvc://"
_REPOSITORY = "?repo="


@dataclass(frozen=True, slots=True)
class ClaimUri:
    """The claim, and the path in it without a slash at the begin or end: empty for its root.

    With a `repository` (`owner/name`) the path is that of a cache of the hub, as huggingface_hub keeps it.
    """

    claim: str
    path: str = ""
    repository: str = ""


def claim_uri(uri: str) -> ClaimUri | None:
    """The parts of `pvc://claim/path` or `pvc://claim/path?repo=owner/name`; None for any other uri."""
    if not uri.startswith(CLAIM):
        return None
    place, _, repository = uri.removeprefix(CLAIM).partition(_REPOSITORY)
    claim, _, path = place.partition("/")
    return ClaimUri(claim, path, repository)


def repository_folder(repository: str) -> str:
    """The folder of a repository in a cache of the hub."""
    return f"models--{repository.replace('/', '--')}"
