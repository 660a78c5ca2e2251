"""`llmservice cache prune`: room on a claim, from what nobody needs."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

import click

from llmservice.cli.cache_claim import cache_claim_at
from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.plural import counted
from llmservice.errors import InvalidInput, UsageError
from llmservice.models.cache_pruning import Removal, is_downloading, removals
from llmservice.untrusted.texts import cut, printable

_MOST_BYTES = 8 * 2**20
_LONGEST_SHOWN = 300
_GB = 10**9


@click.command(name="prune")
@click.option(
    "--root", required=True, type=click.Path(path_type=Path), help="Folder where the claim is mounted, writable."
)
@click.option("--keep", "kept", multiple=True, metavar="KEY", help="Keep this download, and no others; repeatable.")
@click.option(
    "--keep-listed", type=click.File("rb"), help="Keep the downloads in this output of cache list -o json, no others."
)
@click.option("--compiled", is_flag=True, help="Remove what engines compiled, too; they compile it again.")
@click.option("--yes", is_flag=True, help="Remove. Omitted: only show what would be removed.")
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    root: Path, kept: tuple[str, ...], keep_listed: BinaryIO | None, output: str, *, compiled: bool, yes: bool
) -> None:
    """Remove from a claim what no kept download needs, and show how many bytes are freed.

    With neither --keep nor --keep-listed every complete download is kept: what goes are downloads that were interrupted
    more than a day ago, and files that no snapshot links to. Models that you put there yourself, without a download,
    and everything beside the folders of the cache stay in any case. While a download runs nothing is removed.

    No replica may run from what is removed: list the claim's downloads and those in use first. While a service in the
    list changes, or its last change failed, nothing is removed: its replicas may run from another model than the list
    names. A download that is removed and needed again is made again.

    \b
    llmservice cache list --all-namespaces -o json > used.json
    llmservice cache prune --root /models --keep-listed used.json
    llmservice cache prune --root /models --keep-listed used.json --yes
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        listed = _listed(keep_listed) if keep_listed else frozenset()
        claim = cache_claim_at(root)
        files = claim.files()
        if is_downloading(files):
            raise InvalidInput("Downloading", "a download writes to the claim; wait until it is done", field="--root")
        markers = {key: download.marker for key, download in claim.downloads().items()}
        _check(markers.keys(), frozenset(kept), listed)
        found = removals(files, markers, listed.union(kept) or None, compiled=compiled)
        if yes:
            claim.remove(found)
    click.echo(_as_json(found, done=yes) if output == "json" else _as_text(found, done=yes), nl=False)


def _listed(file: BinaryIO) -> frozenset[str]:
    """The keys in a list; raises UsageError for a list of none, and InvalidInput while one of its services changes."""
    try:
        rows = json.loads(file.read(_MOST_BYTES + 1)[:_MOST_BYTES])
        keys = frozenset(str(row["key"]) for row in rows if row.get("key"))
        changing = [f"{row.get('namespace')}/{row.get('service')}" for row in rows if row.get("changing")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _refused(f"is not the output of cache list -o json: {str(error)[:200]}") from error
    if not keys:
        raise _refused("names no key, so that everything would be removed; give the list of a cluster with caches")
    if changing:
        services = cut(printable(", ".join(changing)), _LONGEST_SHOWN)
        message = (
            f"{services}: a change is not over or failed, and their replicas may load another model than is listed"
        )
        raise InvalidInput("InUse", f"{message}; wait, or name the keys with --keep", field="--keep-listed")
    return keys


def _check(there: Collection[str], kept: frozenset[str], listed: frozenset[str]) -> None:
    """Raises UsageError for keys that cannot be meant for this claim: everything else on it would be removed."""
    if unknown := sorted(kept.difference(there)):
        message = f"{cut(printable(', '.join(unknown)), _LONGEST_SHOWN)} is not on this claim; see cache list --root"
        raise UsageError("InvalidKeys", message, field="--keep")
    if listed and there and listed.isdisjoint(there) and not kept:
        raise _refused("names no download of this claim, so that all would be removed; is it of another namespace?")


def _refused(message: str) -> UsageError:
    return UsageError("InvalidList", message, field="--keep-listed")


def _as_text(found: tuple[Removal, ...], *, done: bool) -> str:
    lines = [f"{removal.size / _GB:10.3f} GB  {removal.path}  ({removal.why})" for removal in found]
    size = sum(removal.size for removal in found) / _GB
    what = counted(len(found), "file")
    end = f"{what} removed, {size:.3f} GB freed" if done else f"{what} would be removed, {size:.3f} GB; --yes does it"
    return "\n".join([*lines, end if found else "nothing to remove", ""])


def _as_json(found: tuple[Removal, ...], *, done: bool) -> str:
    rows = [{"path": removal.path, "bytes": removal.size, "reason": removal.why} for removal in found]
    answer = {"removed": done, "bytes": sum(removal.size for removal in found), "files": rows}
    return json.dumps(answer, indent=1) + "\n"
