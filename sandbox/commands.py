"""Running system programs, with errors that show what the program said."""

import os
import subprocess
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from sandbox.errors import SandboxError

LINES_OF_TROUBLE = 12


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: IO[bytes] | int = subprocess.DEVNULL,
) -> str:
    """Standard output of a program that ends with 0; SandboxError with its last words otherwise."""
    try:
        ended = subprocess.run(
            argv,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as err:
        raise SandboxError(f"{argv[0]} is not installed: `python -m sandbox preflight` says how to get it") from err
    if ended.returncode:
        raise SandboxError(_trouble(argv, ended.returncode, (ended.stderr or ended.stdout).splitlines()))
    return ended.stdout


def follow(
    argv: Sequence[str | Path],
    say: Callable[[str], None],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a long program and hand each line it prints to `say` while it works."""
    last: deque[str] = deque(maxlen=LINES_OF_TROUBLE)
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except FileNotFoundError as err:
        raise SandboxError(f"{argv[0]} is not installed: `python -m sandbox preflight` says how to get it") from err
    with process:
        for line in process.stdout or ():
            last.append(line.rstrip())
            say(line.rstrip())
    if process.returncode:
        raise SandboxError(_trouble(argv, process.returncode, list(last)))


def _trouble(argv: Sequence[str | Path], code: int, lines: Sequence[str]) -> str:
    shown = " ".join(str(word) for word in argv[:6]) + (" …" if len(argv) > 6 else "")  # noqa: PLR2004
    return f"`{shown}` ended with {code}:\n" + "\n".join(f"  {line}" for line in lines[-LINES_OF_TROUBLE:])
