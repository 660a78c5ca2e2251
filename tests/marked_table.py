"""Tables of figures that a run writes into a page of the docs, between two comments."""

from pathlib import Path


def put(page: Path, mark: str, table: str) -> None:
    """Replace what stands between `<!-- mark -->` and `<!-- end of mark -->`; a page without them stays as it is."""
    text = page.read_text("utf-8")
    head, begin, rest = text.partition(f"<!-- {mark} -->\n")
    _, end, tail = rest.partition(f"<!-- end of {mark} -->")
    if begin and end:
        page.write_text(head + begin + table + end + tail, "utf-8")
