"""The generated config.yml: sections of keys, as in config_sample.yml."""

import json
from collections.abc import Iterator, Mapping, Sequence

CONFIG_PATH = "/app/config.yml"
"""Where main.py looks for it: in its working folder (common/tabby_config.py)."""

Value = str | int | bool | Sequence[str]
Config = Mapping[str, Mapping[str, Value]]
"""Section → key → value."""


def config_text(config: Config) -> str:
    """YAML; values are written as JSON, which is YAML, so that no name can end its line or change its type."""
    return "".join(_lines(config))


def _lines(config: Config) -> Iterator[str]:
    for section, values in config.items():
        yield f"{section}:\n"
        for key, value in values.items():
            yield f"  {key}: {json.dumps(value)}\n"
