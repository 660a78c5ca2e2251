"""What the command line says: `ctranslate2-server MODEL --port 8000 …`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

COMPUTE_TYPES = (
    *("default", "auto", "float32", "float16", "bfloat16", "int16"),
    *("int8", "int8_float32", "int8_float16", "int8_bfloat16"),
)
"""What ctranslate2.Generator takes; `default` keeps the type that the model was converted to."""

_MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Settings of one server; lengths are in tokens, times in seconds. A `max_model_len` of 0 is the model's own."""

    model: str
    revision: str = ""
    names: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    device: str = "auto"
    device_count: int = 1
    compute_type: str = "default"
    max_num_seqs: int = 4
    max_queued: int = 64
    intra_threads: int = 0
    max_model_len: int = 0
    max_body_bytes: int = 4 * _MIB
    shutdown_timeout: int = 60

    @property
    def served_names(self) -> tuple[str, ...]:
        """The names that requests may use."""
        return self.names or (self.model,)


def options_from(arguments: Sequence[str]) -> Options:
    """The options of a command line; ends the process with code 2 where it is wrong, as argparse does."""
    given = vars(parser().parse_args(arguments))
    return Options(**{**given, "names": tuple(given["names"])})


def parser() -> argparse.ArgumentParser:
    """Every option with its help; no option may be abbreviated."""
    usual = Options(model="")
    made = argparse.ArgumentParser(prog="ctranslate2-server", description=__doc__, allow_abbrev=False)
    add = made.add_argument
    add("model", metavar="MODEL", help="folder with a converted model and its tokenizer.json, or owner/name on the hub")
    add("--revision", default="", help="branch, tag or commit of a model on the hub")
    add("--served-model-name", dest="names", nargs="+", default=[], metavar="NAME", help="names that requests may use")
    add("--host", default=usual.host, help=f"address to listen on (default: {usual.host})")
    add("--port", type=_whole(1, 65535), default=usual.port, help=f"port to listen on (default: {usual.port})")
    add("--device", choices=("auto", "cpu", "cuda"), default=usual.device, help="where to compute (default: auto)")
    add(
        "--device-count",
        type=_whole(1, 64),
        default=usual.device_count,
        help="devices that each hold the whole model and share the requests (default: 1)",
    )
    add("--compute-type", choices=COMPUTE_TYPES, default=usual.compute_type, help="number format to compute in")
    add(
        "--max-num-seqs",
        type=_whole(1, 1024),
        default=usual.max_num_seqs,
        help=f"requests that run at once, each in a thread of its own (default: {usual.max_num_seqs})",
    )
    add(
        "--max-queued",
        type=_whole(0, 100_000),
        default=usual.max_queued,
        help=f"requests that wait beyond those; more are answered 429 (default: {usual.max_queued})",
    )
    add(
        "--intra-threads",
        type=_whole(0, 1024),
        default=usual.intra_threads,
        help="threads for each running request on a CPU (default: 0, the library's choice)",
    )
    add(
        "--max-model-len",
        type=_whole(0, 10_000_000),
        default=usual.max_model_len,
        help="tokens of prompt and answer together (default: 0, what the model's files say)",
    )
    add(
        "--max-body-bytes",
        type=_whole(1024, 1024 * _MIB),
        default=usual.max_body_bytes,
        help=f"size of a request; larger ones are answered 413 (default: {usual.max_body_bytes})",
    )
    add(
        "--shutdown-timeout",
        type=_whole(0, 86_400),
        default=usual.shutdown_timeout,
        help=f"seconds that running requests have after SIGTERM (default: {usual.shutdown_timeout})",
    )
    return made


class _Whole:
    """A whole number between two bounds, for argparse."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, text: str) -> int:
        value = int(text)
        if not self._least <= value <= self._most:
            raise argparse.ArgumentTypeError(f"{value} is not between {self._least} and {self._most}")
        return value

    def __repr__(self) -> str:
        return "whole number"


def _whole(least: int, most: int) -> _Whole:
    return _Whole(least, most)
