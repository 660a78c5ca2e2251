"""kopf as a watcher and nothing else: it writes nothing, keeps nothing and never gives up."""

from collections.abc import Iterator
from itertools import count
from typing import Any

import kopf

from llmservice.pauses import backoff, jittered

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 6.0
"""Short enough that a resource made right after an outage is acted on within ten seconds."""


def watching_only() -> kopf.OperatorSettings:
    """The settings: each of them keeps kopf from writing, from holding memory, or from ending."""
    settings = kopf.OperatorSettings()
    settings.posting.enabled = False
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.process.ultimate_exiting_timeout = None
    settings.queueing.idle_timeout = 0.5  # two tasks and the last body are held per object for so long
    settings.watching.server_timeout = 300
    settings.watching.client_timeout = 330
    settings.watching.chunk_size = 100  # of small objects; fewer of large ones (`pages`)
    settings.networking.request_timeout = 30
    settings.networking.error_backoffs = _Endless()
    settings.persistence.finalizer = "llmservice.dev/unused"  # never set; another kopf operator's must not be stripped
    settings.persistence.diffbase_storage = _NoDiffBase()
    settings.persistence.progress_storage = _NoProgress()
    return settings


class _Endless:
    """Pauses between tries, in seconds, without an end: kopf gives up after the last one. Iterated anew each time."""

    def __iter__(self) -> Iterator[float]:
        return (jittered(backoff(tries, _FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS)) for tries in count())


class _NoDiffBase(kopf.DiffBaseStorage):
    """Nothing is compared with an earlier body, so nothing is stored on users' objects."""

    def build(self, *, body: kopf.Body, extra_fields: Any = None) -> kopf.BodyEssence:  # noqa: ARG002
        """Half of kopf's work on an event would be a deep copy of the body that nobody reads."""
        return kopf.BodyEssence()

    def fetch(self, *, body: kopf.Body) -> kopf.BodyEssence | None:  # noqa: ARG002
        return None

    def store(self, *, body: kopf.Body, patch: Any, essence: kopf.BodyEssence) -> None:
        """Store nothing."""


class _NoProgress(kopf.ProgressStorage):
    """Our queue retries, not kopf's annotations."""

    def fetch(self, *, key: Any, body: kopf.Body) -> kopf.ProgressRecord | None:  # noqa: ARG002
        return None

    def store(self, *, key: Any, record: kopf.ProgressRecord, body: kopf.Body, patch: Any) -> None:
        """Store nothing."""

    def purge(self, *, key: Any, body: kopf.Body, patch: Any) -> None:
        """There is nothing to purge."""

    def touch(self, *, body: kopf.Body, patch: Any, value: str | None) -> None:
        """There is nothing to touch."""

    def clear(self, *, essence: kopf.BodyEssence) -> kopf.BodyEssence:
        """There is nothing to clear."""
        return essence
