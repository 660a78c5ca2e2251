"""How a release was made, as an in-toto statement with SLSA's provenance (slsa.dev/spec/v1.0/provenance).

It says no time, so that the same commit gives the same bytes; what it says of a build on somebody's machine is worth as
much as their word. The workflow's own attestations are signed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.release.names import Names

_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://slsa.dev/provenance/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One commit (40 hex digits), its time in seconds, and the names it was built with."""

    version: str
    commit: str
    epoch: int
    names: Names


def provenance(source: Source, digests: Mapping[str, str], base: Mapping[str, str], builder: str) -> str:
    """The statement as JSON.

    `digests` has the sha256 of each file, in hex; `base` the base image's `name`, and its `digest` (`sha256:…`) where
    it has one that others can pull; `builder` is the URI of who built it.
    """
    repository = source.names.repository
    definition = {
        "buildType": f"{repository}/blob/v{source.version}/docs/contributing/release.md",
        "externalParameters": {"version": source.version, "registry": source.names.registry, "repository": repository},
        "internalParameters": {"sourceDateEpoch": source.epoch},
        "resolvedDependencies": [
            {"uri": f"git+{repository}@refs/tags/v{source.version}", "digest": {"gitCommit": source.commit}},
            *_base(base),
        ],
    }
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": digests[name]}} for name in sorted(digests)],
        "predicateType": _PREDICATE,
        "predicate": {"buildDefinition": definition, "runDetails": {"builder": {"id": builder}}},
    }
    return json.dumps(statement, indent=2) + "\n"


def _base(base: Mapping[str, str]) -> list[dict[str, Any]]:
    if not base:
        return []
    algorithm, _, digest = base.get("digest", "").partition(":")
    return [{"name": base["name"], **({"digest": {algorithm: digest}} if digest else {})}]
