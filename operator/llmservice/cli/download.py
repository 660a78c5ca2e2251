"""`llmservice download`: puts a model on a claim, as the Job of a cached model does."""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from llmservice.cli.exit_codes import errors_shown
from llmservice.download.metrics_page import metrics_page
from llmservice.download.progress import Progress
from llmservice.download.running import Bounds, downloaded
from llmservice.errors import InvalidInput, UsageError
from llmservice.models.download_answer import DownloadedModel, answer_of, answer_text
from llmservice.models.download_failure import DownloadFailure
from llmservice.models.download_names import problem_of
from llmservice.models.download_request import DownloadRequest

Result = DownloadedModel | DownloadFailure
_OPTIONS = {"uri": "URI", "revision": "--revision", "file": "--file"}


@click.command(name="download")
@click.argument("uri")
@click.option("--revision", default="", help="Commit, branch or tag on the hub. Omitted: main.")
@click.option("--file", default="", help="GGUF file of the model, with all its parts. Omitted: the only one there is.")
@click.option(
    "--quantization",
    default="",
    help="Where there are several GGUF files and none is named: the one of this quantization; auto: Q4_K_M, else Q8_0.",
)
@click.option(
    "--format",
    type=click.Choice(["safetensors", "gguf", "adapter"]),
    default="safetensors",
    show_default=True,
    help="Which files: safetensors with config and tokenizer, one GGUF model, or an adapter with its config.",
)
@click.option(
    "--root",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to download to: where the claim is mounted.",
)
@click.option(
    "--parallel",
    default=8,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Requests at the same time. Each takes 8 MiB of memory.",
)
@click.option(
    "--bandwidth",
    default=0,
    type=click.IntRange(0, 2**40),
    help="Bytes in a second, all requests together.  [default: no bound]",
)
@click.option(
    "--timeout",
    "seconds",
    default=86_400.0,
    show_default=True,
    type=click.FloatRange(1, 2_592_000),
    help="Seconds for all of it.",
)
@click.option(
    "--metrics-port",
    default=None,
    type=click.IntRange(0, 65_535),
    help="Port of a page with the metrics llmservice_download_…, as long as it runs.",
)
@click.option(
    "--termination-log",
    default=None,
    type=click.Path(path_type=Path),
    help="File to write the JSON to, too, as a Job does: the exit code is then 0 for any answer, one with a failure as "
    "well.",
)
def command(root: Path, metrics_port: int | None, termination_log: Path | None, **given: Any) -> None:
    """Download the model at URI to a folder, check it, and print where it is.

    URI is hf://owner/name or owner/name on a hub, or s3://, gs:// or az:// with a bucket and a folder in it. A hub's
    model lies in the folder as huggingface_hub keeps it, so that engines and tools find it by name, offline.

    What is there already is not loaded again: a download that was ended, in whatever way, goes on where it was, also
    in the middle of a file. One that is complete ends at once and asks nobody.

    The hub is that of HF_ENDPOINT, with the token in HF_TOKEN; buckets are reached by the variables of their clouds
    (AWS_…, GOOGLE_…, AZURE_…). Both go through HTTPS_PROXY, and trust SSL_CERT_FILE or REQUESTS_CA_BUNDLE besides the
    system's authorities.

    \b
    llmservice download Qwen/Qwen2.5-7B-Instruct --root /models
    llmservice download hf://bartowski/Qwen2.5-7B-Instruct-GGUF --format gguf --quantization Q4_K_M --root /models
    llmservice download s3://models/qwen2.5-7b --root /models --bandwidth 200000000
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        bounds = Bounds(**{name: given.pop(name) for name in ("parallel", "bandwidth", "seconds")})
        request, progress = _checked(DownloadRequest(**given)), Progress()

        def answered(result: Result) -> None:
            answer = answer_text(answer_of(request, result))
            if termination_log:
                _write(termination_log, answer)
            click.echo(json.dumps(json.loads(answer), indent=1))

        with metrics_page(progress, metrics_port):
            result = asyncio.run(_until_told_to_end(request, root, bounds, progress, answered))
    if isinstance(result, DownloadFailure):
        click.echo(f"llmservice: {result}", err=True)
        sys.exit(0 if termination_log else 1)


async def _until_told_to_end(
    request: DownloadRequest, root: Path, bounds: Bounds, progress: Progress, answered: Callable[[Result], object]
) -> Result:
    """The answer is written at once: a thread that waits for a network may end later than the kubelet waits."""
    task = asyncio.ensure_future(downloaded(request, root, bounds, progress, lambda text: click.echo(text, err=True)))
    loop = asyncio.get_running_loop()
    for kind in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(kind, task.cancel)
    result = await task
    answered(result)
    return result


def _checked(request: DownloadRequest) -> DownloadRequest:
    """What can be downloaded; raises UsageError."""
    if problem := problem_of(request):
        kind = "UnsupportedModelSource" if problem.is_source else "InvalidModel"
        raise UsageError(kind, problem.message, field=_OPTIONS[problem.field])
    is_bare = "://" not in request.uri  # by its name with a scheme an LLMService finds it, without a hub
    return replace(request, uri=f"hf://{request.uri}") if is_bare else request


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        raise InvalidInput("NotWritten", f"cannot be written: {error}", field="--termination-log") from error
