"""How the text of a variable becomes a value. Each raises ValueError with a message that ends with the way out."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import yaml

LOG_LEVELS = ("debug", "info", "warning", "error")

NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_IMAGE_PREFIX = re.compile(r"[A-Za-z0-9][\w.-]*(:\d+)?(/[\w.-]+)*(:\w[\w.-]*)?/?")
_IMAGE = re.compile(r"[a-z0-9][-._/:@A-Za-z0-9]{0,511}")
_MOST_WORKERS = 256
_FEWEST_SECONDS, _MOST_SECONDS = 10, 600
_MOST_DOWNLOADS = 64
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_LONGEST_NUMBER = 9
_SHORTEST_STALL_SECONDS, _LONGEST_STALL_SECONDS = 60, 3600
_HIGHEST_PORT = 65_535


def mirrors_in(text: str) -> dict[str, str]:
    """`prefix=prefix,…` as a mapping; raises ValueError."""
    mirrors: dict[str, str] = {}
    for pair in words(text):
        old, _, new = (part.strip() for part in pair.partition("="))
        if not (_IMAGE_PREFIX.fullmatch(old) and _IMAGE_PREFIX.fullmatch(new)):
            raise ValueError(f"{pair!r}: write PREFIX=PREFIX without https://, as in docker.io=registry.example/hub")
        if old in mirrors:
            raise ValueError(f"{old} is given twice: keep one")
        mirrors[old] = new
    return mirrors


def words(text: str) -> list[str]:
    """The words of a list separated by commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


def namespaces_in(text: str) -> tuple[str, ...]:
    """Namespaces, each once, in order."""
    return tuple(sorted({matching(NAME, word, "a namespace") for word in words(text)}))


def secrets(text: str) -> tuple[str, ...]:
    """Names of Secrets, each once."""
    return tuple(dict.fromkeys(matching(_OBJECT_NAME, word, "the name of a Secret") for word in words(text)))


def matching(form: re.Pattern[str], word: str, what: str) -> str:
    """A word of this form; raises ValueError."""
    if not form.fullmatch(word):
        raise ValueError(f"{word!r} is not {what}: use lower-case letters, digits and '-'")
    return word


def config_map(text: str) -> tuple[str, str]:
    """`namespace/name` in two."""
    namespace, _, name = text.partition("/")
    if not (NAME.fullmatch(namespace) and _OBJECT_NAME.fullmatch(name)):
        raise ValueError(f"{text!r} is not namespace/name of a ConfigMap: write it as in llmservice-system/our-gpus")
    return namespace, name


def workers(text: str) -> int:
    """A number of workers."""
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_WORKERS):
        raise ValueError(f"{text!r} is not a number from 1 to {_MOST_WORKERS}")
    return int(text)


def seconds(text: str) -> int:
    """A number of seconds, long enough for an image to be pulled."""
    if not (text.isascii() and text.isdecimal() and _FEWEST_SECONDS <= int(text) <= _MOST_SECONDS):
        raise ValueError(f"{text!r} is not a number of seconds from {_FEWEST_SECONDS} to {_MOST_SECONDS}")
    return int(text)


def downloads_at_once(text: str) -> int:
    """A number of downloads."""
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= _MOST_DOWNLOADS):
        raise ValueError(f"{text!r} is not a number from 1 to {_MOST_DOWNLOADS}")
    return int(text)


def bandwidth(text: str) -> int:
    """Bytes a second, as a whole number with K, M or G for powers of a thousand."""
    number, unit = (text[:-1], text[-1]) if text[-1:] in _UNITS else (text, "")
    if not (number.isascii() and number.isdecimal() and len(number) <= _LONGEST_NUMBER):
        raise ValueError(f"{text!r} is not a number of bytes a second: write 100M, 1G, or 0 for no limit")
    return int(number) * _UNITS[unit]


def stall_seconds(text: str) -> int:
    """A number of seconds in which a step of an engine ends for sure, or 0."""
    known = text.isascii() and text.isdecimal() and len(text) < len(str(_LONGEST_STALL_SECONDS)) + 1
    if not known or not (text == "0" or _SHORTEST_STALL_SECONDS <= int(text) <= _LONGEST_STALL_SECONDS):
        raise ValueError(
            f"{text!r} is not a number of seconds from {_SHORTEST_STALL_SECONDS} to {_LONGEST_STALL_SECONDS}, or 0 to "
            "watch for nothing"
        )
    return int(text)


def image(text: str) -> str:
    """An image reference."""
    if not _IMAGE.fullmatch(text):
        raise ValueError(f"{text!r} is not an image reference: write registry/name:tag or registry/name@sha256:digest")
    return text


def inspection(text: str) -> str:
    """`auto` or `never`."""
    if text.lower() not in {"auto", "never"}:
        raise ValueError(f"{text!r} does not say when models are inspected: use auto or never")
    return text.lower()


def port(text: str) -> int:
    """A port, 0 for none."""
    if not (text.isascii() and text.isdecimal() and int(text) <= _HIGHEST_PORT):
        raise ValueError(f"{text!r} is not a port from 1 to {_HIGHEST_PORT}, or 0 for none")
    return int(text)


def metrics_auth(text: str) -> str:
    """`kubernetes` or `none`."""
    if text.lower() not in {"kubernetes", "none"}:
        raise ValueError(f"{text!r} is no way to authenticate: use kubernetes, or none to answer this machine alone")
    return text.lower()


def log_format(text: str) -> str:
    """`text` or `json`."""
    if text.lower() not in {"text", "json"}:
        raise ValueError(f"{text!r} is no format: use text or json")
    return text.lower()


def log_level(text: str) -> str:
    """One of `LOG_LEVELS`."""
    if text.lower() not in LOG_LEVELS:
        raise ValueError(f"{text!r} is no level: use one of {', '.join(LOG_LEVELS)}")
    return text.lower()


def address(text: str) -> str:
    """An address that every reader of an LLMService may see: it stands in its pods and in its status."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is not an address: write http://HOST:PORT or https://HOST")
    if parts.username or parts.password:
        raise ValueError(
            "holds a user or password, which everybody could read in pods and status: remove it, and set the variable "
            "from a Secret in spec.engineOptions.env of the resources that need it"
        )
    return text.rstrip("/")


def tolerations(text: str) -> tuple[Mapping[str, Any], ...]:
    """A list of tolerations as YAML or JSON, checked for its shape only."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"is not YAML or JSON: {' '.join(str(error).split())}; write a list of tolerations") from error
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise ValueError("must be a list of tolerations, as in [{key: team, value: ml, effect: NoSchedule}]")
    return tuple(found)
