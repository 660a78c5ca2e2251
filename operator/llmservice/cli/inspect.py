"""`llmservice inspect`: what is known of a model, from its own files."""  # noqa: A005  (the verb's name)

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError

from llmservice.api.v1alpha1.model import Model
from llmservice.cli.documents import to_yaml
from llmservice.cli.exit_codes import errors_shown
from llmservice.engines.engine import MODELS_PATH
from llmservice.errors import InvalidInput, UsageError
from llmservice.inspection.hub_access import hub_access
from llmservice.inspection.inspecting import (
    Inspected,
    Question,
    inspect_folder,
    inspect_hub_cache,
    inspect_registry,
    inspect_repository,
)
from llmservice.models.claim_uri import claim_uri
from llmservice.models.inspection_answer import answer_of, answer_text
from llmservice.models.inspection_failure import InspectionFailure
from llmservice.models.registry_uri import registry_uri

_HUB = "hf://"
_PATHS = ("/", "./", "../")


@click.command(name="inspect")
@click.argument("model")
@click.option("--revision", default="", help="Commit, branch or tag on the hub. Omitted: main.")
@click.option("--file", default="", help="GGUF file of the model. Omitted: the only one there is.")
@click.option(
    "--quantization",
    default="",
    help="Where a hub has several GGUF files and none is named: the one of this quantization; auto: Q4_K_M, else Q8_0.",
)
@click.option(
    "--root",
    default=None,
    type=click.Path(path_type=Path),
    help=f"Folder that no link is followed out of: of pvc:// where the claim is mounted.  [default: {MODELS_PATH} for "
    "pvc://, else MODEL's own]",
)
@click.option("--output", "-o", type=click.Choice(["text", "yaml", "json"]), default="text", show_default=True)
@click.option(
    "--timeout",
    default=60.0,
    show_default=True,
    type=click.FloatRange(0.1, 3600),
    help="Seconds for all requests to a hub together.",
)
@click.option(
    "--termination-log",
    default=None,
    type=click.Path(path_type=Path),
    help="File to write the JSON to, too, as a Job does: the exit code is then 0 for any answer, one with a failure as "
    "well, and while there is no route a hub is asked again, until the time is over.",
)
def command(
    model: str,
    revision: str,
    file: str,
    quantization: str,
    root: Path | None,
    output: str,
    timeout: float,
    termination_log: Path | None,
) -> None:
    """Print what the files of MODEL say of it: sizes, context, quantization, task; without loading it.

    MODEL is hf://owner/name or owner/name on a hub, ollama://name:tag in a registry of Ollama's, a path that begins
    with / or ./, or pvc://claim/path where that claim is mounted (pvc://claim/folder?repo=owner/name where the folder
    is a cache of the hub). Of a hub config.json,
    sizes, and headers are read, never weights. What is in a bucket or in an image cannot be inspected.

    The hub is that of HF_ENDPOINT, with the token in HF_TOKEN, through HTTPS_PROXY, trusting SSL_CERT_FILE or
    REQUESTS_CA_BUNDLE besides the system's authorities.

    With a failure that has a name (Gated, NoRoute…) the exit code is 1, and the answer holds it in place of the facts.

    \b
    llmservice inspect Qwen/Qwen2.5-7B-Instruct-AWQ
    llmservice inspect bartowski/Qwen2.5-7B-Instruct-GGUF --file Qwen2.5-7B-Instruct-Q4_K_M.gguf
    llmservice inspect ./my-model -o json | jq .facts.longestContext
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        ask = Question(file=file, quantization=quantization, seconds=timeout, insist=termination_log is not None)
        inspected = _inspected(model, revision, ask, root)
        answer = answer_of(model, inspected.revision, inspected.result)
        if termination_log:
            _write(termination_log, answer_text(answer))
    if output != "text" or "facts" in answer:
        click.echo(_shown(answer, output), nl=False)
    if isinstance(inspected.result, InspectionFailure):
        click.echo(f"llmservice: {inspected.result}", err=True)
        sys.exit(0 if termination_log else 1)


def _inspected(model: str, revision: str, ask: Question, root: Path | None) -> Inspected:
    if model.startswith(_PATHS):
        if revision:
            raise UsageError("NoRevision", "only a model on a hub has revisions: leave it out", field="--revision")
        path = Path(model)
        return asyncio.run(inspect_folder(path, root or (path if path.is_dir() else path.parent), file=ask.file))
    checked = _checked(model, revision, ask.file)
    if on_claim := claim_uri(checked.uri):
        mounted = root or Path(MODELS_PATH)
        path, repository = mounted / on_claim.path, on_claim.repository
        if repository:
            return asyncio.run(inspect_hub_cache(path, mounted, repository, ask, revision))
        return asyncio.run(inspect_folder(path, mounted, file=ask.file))
    if in_registry := registry_uri(checked.uri):
        return asyncio.run(inspect_registry(hub_access, in_registry, ask))
    if "://" in checked.uri and not checked.uri.startswith(_HUB):
        raise UsageError(
            "UnsupportedModelSource", "cannot be inspected: name hf://, ollama://, pvc:// or a path", field="MODEL"
        )
    repository = checked.uri.removeprefix(_HUB)
    return asyncio.run(inspect_repository(hub_access, repository, ask, revision=revision))


def _checked(model: str, revision: str, file: str) -> Model:
    """What a resource's `spec.model` could be; raises UsageError."""
    given = {"uri": model, "revision": revision or None, "file": file or None}
    try:
        return Model.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        field = {"revision": "--revision", "file": "--file"}.get(str((problem["loc"] or ("",))[0]), "MODEL")
        raise UsageError("InvalidModel", str(problem["msg"]), field=field) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        raise InvalidInput("NotWritten", f"cannot be written: {error}", field="--termination-log") from error


def _shown(answer: dict[str, Any], output: str) -> str:
    if output == "json":
        return json.dumps(answer, indent=1) + "\n"
    return to_yaml([answer]) if output == "yaml" else "\n".join(_lines(answer["facts"])) + "\n"


def _lines(facts: dict[str, Any], prefix: str = "") -> list[str]:
    """A line for each fact: its name, and what it is."""
    lines: list[str] = []
    for name, value in facts.items():
        shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        lines += _lines(value, f"{prefix}{name}.") if isinstance(value, dict) else [f"{prefix + name:26}{shown}"]
    return lines
