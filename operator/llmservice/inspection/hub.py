"""A model on a hub that speaks the Hugging Face API: huggingface.co, or a mirror (`HF_ENDPOINT`).

Addresses and answers: huggingface_hub, `hf_api.py` (`model_info`) and `constants.py` (`HUGGINGFACE_CO_URL_TEMPLATE`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from yarl import URL

from llmservice.inspection.hub_requests import HubRequests
from llmservice.inspection.model_files import LONGEST_NAME, MOST_FILES, InspectionFailed, Listing
from llmservice.models.inspection_failure import FailureReason
from llmservice.models.plausible import MalformedModel, json_object, limit_of, part, word

MAIN = "main"
_MOST_LISTING_BYTES = 4 * 2**20
"""A repository with 10,000 files takes 2 MB."""
_COMMIT_LETTERS = 40


@dataclass(slots=True)
class HubRepository:
    """Reads one repository. `revision` is a branch, tag or commit; once listed, the commit that it was."""

    requests: HubRequests
    name: str
    revision: str = MAIN
    _sizes: Mapping[str, int] = field(default_factory=dict)

    async def listing(self) -> Listing:
        """The files by the hub's own list; raises InspectionFailed."""
        url = self._address(f"/api/models/{self.name}/revision/{quote(self.revision, safe='')}")
        size = _MOST_LISTING_BYTES + 1
        data = await self.requests.get(url.with_query(blobs="true"), f"{self.name} at {self.revision}", size=size)
        if len(data) == size:
            raise InspectionFailed(FailureReason.TOO_LARGE, f"the hub's list of files of {self.name} is too long")
        try:
            listing = _listing(json_object(data, "the hub's answer", _MOST_LISTING_BYTES))
        except MalformedModel as error:
            raise InspectionFailed(FailureReason.NO_ROUTE, f"{url.host} does not answer as a hub: {error}") from error
        self._sizes, self.revision = listing.sizes, listing.revision or self.revision
        return listing

    async def read(self, name: str, begin: int, size: int) -> bytes:
        """So many bytes of a file from `begin` on; raises InspectionFailed."""
        url = self._address(f"/{self.name}/resolve/{quote(self.revision, safe='')}/{quote(name)}")
        is_part = begin > 0 or self._sizes.get(name, 0) > size or not name.endswith(".json")
        return await self.requests.get(url, f"{self.name}/{name}", begin=begin, size=size, part=is_part)

    def _address(self, path: str) -> URL:
        return URL(f"{self.requests.access.endpoint}{path}", encoded=True)


def _listing(answer: Mapping[str, Any]) -> Listing:
    """What the hub tells of a model; raises MalformedModel where it is something else."""
    siblings = answer.get("siblings")
    if not isinstance(siblings, list):
        raise MalformedModel("it lists no files")
    commit = word(answer.get("sha"))
    values = part(part(answer, "safetensors"), "parameters")
    return Listing(
        sizes=dict(_files(siblings[:MOST_FILES])),
        revision=commit if len(commit) == _COMMIT_LETTERS else "",
        gated=bool(answer["gated"]) if "gated" in answer else None,
        values={str(kind)[:16]: number for kind, number in values.items() if isinstance(number, int)},
        pipeline=word(answer.get("pipeline_tag")),
    )


def _files(siblings: list[Any]) -> Iterator[tuple[str, int]]:
    for sibling in siblings:
        name = sibling.get("rfilename") if isinstance(sibling, dict) else None
        if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name.isprintable():
            size = sibling.get("size")
            is_size = isinstance(size, int) and 0 <= size <= limit_of("file_bytes")
            yield name, size if is_size else 0
