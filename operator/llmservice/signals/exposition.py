"""The text format of Prometheus, read only where it is wanted: a full parser costs ten times as much.

Format: prometheus.io/docs/instrumenting/exposition_formats, and OpenMetrics' exemplars behind a value.
"""

import re
from collections.abc import Mapping

from llmservice.signals.samples import Sample, Samples

_LABEL = rb'[{,]\s*%s="((?:[^"\\]|\\.)*)"'
_SAMPLE = re.compile(rb"^([a-zA-Z_:][\w:]*)(?:\{[^\n]*\})?[ \t]+(?:[-+]?[0-9.]|NaN|[-+]?Inf)", re.MULTILINE)
_TAIL = re.compile(rb'\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\}(.*)')


def scan(page: bytes, wanted: Mapping[str, str]) -> Samples:
    """The samples of the wanted names, `wanted` being name → label to read (empty: none).

    A value that is no number reads as NaN; the last line counts only if it is whole.
    """
    labels = {name.encode(): _label_pattern(label) for name, label in wanted.items()}
    found: dict[str, list[Sample]] = {}
    for line in page[: page.rfind(b"\n") + 1].split(b"\n"):
        if line.startswith(b"#"):
            continue
        name, brace, _ = line.partition(b"{")
        if not brace:
            name = line.split(None, 1)[0] if line.strip() else b""
        if name in labels:
            found.setdefault(name.decode(), []).append(_sample(line, len(name), labels[name]))
    return found


def names_in(page: bytes) -> frozenset[str]:
    """The names of all samples."""
    return frozenset(name.decode() for name in _SAMPLE.findall(page))


def has_samples(page: bytes) -> bool:
    """Whether a text is an exposition at all; an empty one is."""
    return not page.strip() or _SAMPLE.search(page) is not None


def _label_pattern(label: str) -> re.Pattern[bytes] | None:
    return re.compile(_LABEL % re.escape(label.encode())) if label else None


def _sample(line: bytes, end: int, label: re.Pattern[bytes] | None) -> Sample:
    """Value and label of a line whose name has this end; what follows the value is a timestamp or an exemplar."""
    if line[end : end + 1] != b"{":
        tail = line[end:]
    elif b"#" in line:  # an exemplar, or such a letter in a label
        match = _TAIL.match(line, end)
        tail = match[1] if match else b""
    else:
        tail = line.rpartition(b"}")[2]
    found = label.search(line, end) if label else None
    return Sample(found[1].decode(errors="replace") if found else "", _number_at_start(tail))


def _number_at_start(text: bytes) -> float:
    try:
        return float(text.split(None, 1)[0])
    except (IndexError, ValueError):
        return float("nan")
