"""What was checked so far: a line for each complete file, so that a download that goes on reads none of them again."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from llmservice.download.claim import Claim
from llmservice.models.download_marker import MOST_FILES, MOST_MARKER_BYTES, CheckedFile, checked_file
from llmservice.models.plausible import MalformedModel, json_object

_MOST_LINE_BYTES = 8192


@dataclass(slots=True)
class Journal:
    """The journal at `path`. Whoever can write to the claim can write to it, as to the files themselves."""

    claim: Claim
    path: Path
    known: Mapping[str, CheckedFile] = field(default_factory=dict)

    def read(self) -> None:
        """Take what a download before this one left; a line that was cut is left out."""
        lines = (self.claim.small(self.path, MOST_MARKER_BYTES) or b"").splitlines()
        self.known = {file.name: file for line in lines[:MOST_FILES] if (file := _file_in(line))}

    def add(self, file: CheckedFile) -> None:
        """Write a line; raises DownloadFailed."""
        descriptor = self.claim.opened(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            with os.fdopen(descriptor, "ab") as journal:
                journal.write(json.dumps(asdict(file)).encode() + b"\n")
        except OSError as error:
            raise self.claim.trouble(self.path, error) from error

    def remove(self) -> None:
        """The marker says it all now."""
        self.claim.remove(self.path)


def _file_in(line: bytes) -> CheckedFile | None:
    try:
        return checked_file(json_object(line, "a line of the journal", _MOST_LINE_BYTES))
    except MalformedModel:
        return None
