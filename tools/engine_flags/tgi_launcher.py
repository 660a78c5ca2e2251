"""The options of TGI's launcher, read from its source: the fields of `struct Args` and their `#[clap(…)]` lines.

clap names an option after its field; `long`, `short` and `env` in the line above say which spellings it has. A field
that is a plain `bool` takes no value, every other takes one (a `Vec` one each time the option occurs).
"""

import re
from collections.abc import Iterator

from llmservice.catalog.recorded_flags import Option, Takes

_ARGS = re.compile(r"^struct Args \{\n(.*?)^\}", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"#\[clap\((?P<clap>[^\]]*)\)\]\s*(?:pub )?(?P<name>\w+):\s*(?P<type>[\w<>]+)")


def launcher_options(source: str) -> list[Option]:
    """Every option, sorted; raises ValueError when the source has no `struct Args`."""
    if not (args := _ARGS.search(source)):
        raise ValueError("no struct Args in this source: is it launcher/src/main.rs?")
    help_and_version = tuple(Option(names, "", Takes.NONE) for names in (("--help", "-h"), ("--version", "-V")))
    return sorted((*_options(args[1]), *help_and_version), key=lambda option: option.spellings)


def _options(fields: str) -> Iterator[Option]:
    for field in _FIELD.finditer(fields):
        words = {word.strip() for word in field["clap"].split(",")}
        name = field["name"]
        spellings = (f"--{name.replace('_', '-')}", *((f"-{name[0]}",) if "short" in words else ()))
        takes = Takes.NONE if field["type"] == "bool" else Takes.ONE
        yield Option(spellings, name.upper() if "env" in words else "", takes)
