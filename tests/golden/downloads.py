"""What users read of a download: each failure with its remedy, and the line that says how far it is."""

from collections.abc import Iterator
from itertools import chain, repeat

from llmservice.download.progress import Progress
from llmservice.models.download_failure import DownloadFailure, DownloadFailureReason

_DOWNLOADS = ((0.0, 0.0, 141.1), (0.5, 48.0, 141.1), (61.2, 14.0, 141.1), (900.0, 1.0, 1342.0), (1.0, 0.0, 1.0))
"""GB at the beginning and in the minute after it, of GB altogether."""


def sentences() -> Iterator[str]:
    """Each once."""
    for reason in DownloadFailureReason:
        yield str(DownloadFailure(reason=reason, message="what was asked for: why not"))
    for before, came, expected in _DOWNLOADS:
        yield _line(before, came, expected)


def _line(before: float, came: float, expected: float) -> str:
    clock = chain((0.0,), repeat(60.0))
    progress = Progress(clock=lambda: next(clock), expected=int(expected * 1e9))
    progress.found(int(before * 1e9))
    progress.line()
    progress.done += int(came * 1e9)
    return progress.line()
