"""Redaction: foreign text (engine logs, API server messages) without anything that looks like a credential or a prompt.

A text is truncated before it is scanned, so the time is bounded. A margin behind the limit is scanned too and never
shown: a secret that the limit cuts in two is still recognised.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from llmservice.untrusted.patterns import compiled, finder
from llmservice.untrusted.texts import printable

LONGEST_TEXT = 65_536
"""The longest text that is scanned, in characters."""

_HIDDEN = "[hidden]"
_LONGEST_ARGUMENT = 256
_LONGEST_COMMAND_LINE_BYTES = 16_384
_MARGIN = 1024
"""Only a password in a URL is recognised by what follows it (the @); none is as long as this."""
_PREFIXES = (
    *("hf_", "api_org_", "sk-", "sk_live_", "sk_test_", "rk_live_", "nvapi-", "gsk_", "r8_", "pcsk_"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
    *("AKIA", "ASIA", "ABIA", "ACCA", "AIza", "ya29\\.", "dop_v1_", "hvs\\.", "SG\\.", "shpat_", "shpss_"),
    *("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "npm_", "pypi-", "dckr_pat_"),
)
"""Prefixes of tokens of model hubs, code hosts, clouds, chats, registries and inference APIs."""

_TEXT_VALUE = r"""(?:\\*"(?:[^"\\]|\\.)*(?:"|\\*\z)|'(?:[^'\\]|\\.)*(?:'|\\*\z)|\[[^h\n][^\n]*|\{[^\n]*)"""
"""A quoted string, to the end of the text if it is not closed; a list or an object, to the end of the line.

Not what begins like `[hidden]`, so that redacting twice changes nothing.
"""
_NAMES = (
    r"(?:token|api[-_]?key|password|passwd|passphrase|secret[-_]?key|(?:access|account|private)[-_]?key"
    r"|[-_]secret|credentials?|authorization)"
)
_OPENING = r"""(?:(?:Some\(|\[)\\*["']|\\*["']?)"""
"""What precedes a value: a quote, a Python list with a string, a Rust `Some("`."""
_VALUE = r"""[^\s"',;}&\\]{4,}"""
_WORDS = (
    r"(?:(?:none|null|true|false|empty|unset|missing|required|invalid|malformed|expired|unknown|unsupported|unauthorized"
    r"|forbidden|denied|failed|failure|error|wrong|expected|unexpected|given|found|must|cannot|could|please|check|with|when"
    r"|from|this|that|context|dial|lookup|post|head|remote|connection|connect|net/http|read|rpc)"
    r"(?:[\s\"'`,;)}\]]|[.:]\s|[.:]?\z)|<[^<>\s]{0,40}>)"
)
"""Words behind such a name that are no secret: values that mean "none", the next words of an error message, and names
of special tokens in angle brackets."""
_SPECIAL_TOKENS = r"(?:\b|_)(?:bos|eos|eot|eom|eog|pad|unk|sep|cls|mask|lf|nl|fim|image|video|audio)[ _-]?token"
"""Special tokens of a tokenizer, which logs print with their ids."""
_SECRETS = (
    finder(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)"),
    finder(r"[A-Za-z0-9+/=\s\\]*-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"),  # truncated at the beginning
    finder(
        r"(?i)\b(?:(?P<ordinary>bearer\s+(?:realm=|(?:auth|token|scheme|header|credential)[a-z]*(?:[\s,;]|[.:]\s|[.:]?\z))"
        r"|basic\s+(?-i:[a-z]+)(?:[\s,;]|[.:]\s|[.:]?\z))|(?P<kept>(?:bearer|basic)\s+)[\w.~+/=-]{6,})"
    ),
    # Not lower case alone, which is an identifier: `hf_hub_download`, `sk-learn`.
    finder(rf"\b(?:{'|'.join(_PREFIXES)})[a-z_-]*[0-9A-Z][\w-]{{4,}}(?:\.[\w-]+)*"),
    finder(r"\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}"),  # a JSON Web Token, such as a service account token
    finder(
        rf"(?i)(?P<ordinary>{_SPECIAL_TOKENS}\\*[\"']?\s*[:=]|{_NAMES}\\*[\"']?\s*[:=]\s*\\*[\"']?{_WORDS})"
        rf"|(?P<kept>{_NAMES}\\*[\"']?\s*[:=]\s*{_OPENING}){_VALUE}"
    ),
    finder(rf"(?i)(?P<ordinary>\bsecret\s*=\s*[\"']?{_WORDS})|(?P<kept>\bsecret\s*=\s*{_OPENING}){_VALUE}"),
    finder(
        rf"(?i)(?P<ordinary>--[\w-]*(?:token|key|password|secret)\s+{_WORDS})"
        r"|(?P<kept>--[\w-]*(?:token|key|password|secret)\s+)[^\s-]\S{3,}"
    ),
    finder(r"(?i)(?P<kept>[?&;](?:sig|(?:x-(?:amz|goog)-)?(?:signature|credential|security-token)|key)=)[^\s&\"'<>]+"),
    finder(r"(?P<kept>\benv\[\d+\]\.value: [\w ]+: )\"(?:[^\"\\]|\\.)*(?:\"|\\*\z)"),  # quoted by the API server
    finder(r"(?P<kept>://[^\s/:@]*:)[^\s/]+(?P<tail>@)"),
    finder(r"(?P<kept>://)[^\s/:@]{16,}(?P<tail>@)"),
    finder(r"(?i)(?P<kept>\bcookie\\*[\"']?\s*[:=]\s*)[^\n]+"),
    finder(rf"(?i)(?P<kept>\b(?:prompt|messages|content|inputs|prompt_token_ids)\\*[\"']?\s*[:=]\s*){_TEXT_VALUE}"),
    finder(
        r"(?i)(?P<kept>[\"'](?:input|text|instructions|query|suffix|documents|arguments)\\*[\"']\s*:\s*)" + _TEXT_VALUE
    ),
)
"""Patterns of credentials and prompts."""

_TRIGGERS = (
    *("token", "key", "passw", "passphrase", "secret", "bearer", "basic", "authorization", "credential", "cookie"),
    *(prefix.lower().replace("\\", "") for prefix in _PREFIXES),
    *("eyj", "sig", ".value:", "@", "prompt", "messages", "content", "input", "text", "instructions", "query"),
    *("suffix", "documents", "arguments"),
)
"""Every pattern above needs one of these words. Nearly every text has none of them and is not scanned further."""
_TRIGGER = compiled("(?i)" + "|".join(word.replace(".", r"\.") for word in _TRIGGERS))

_SECRET_FLAG = compiled(r"(?i)--[\w-]*(?:token|key|password|secret)")


def redacted(text: str, limit: int = LONGEST_TEXT) -> str:
    """The first `limit` characters, printable and redacted, followed by how many characters are left out."""
    read = _without_secrets(printable(text[: limit + _MARGIN]))
    # The end of the scanned text may be the first half of a secret: unless it was redacted, the margin is dropped.
    is_cut = len(text) > limit + _MARGIN and not read.endswith(_HIDDEN)
    end = max(0, min(limit, len(read) - _MARGIN)) if is_cut else min(limit, len(read))
    if len(text) <= limit and len(read) <= limit:
        return read
    return f"{read[:end]}… ({max(len(text), len(read)) - end} more characters)"


def redacted_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line for the status: the value behind a flag such as --hub-token is redacted too.

    Limited to 256 characters for each argument and 16 kB altogether.
    """
    shown: list[str] = []
    size = 0
    for argument in _each_redacted(arguments):
        size += len(argument.encode())
        if size > _LONGEST_COMMAND_LINE_BYTES:
            return [*shown, f"… ({len(arguments) - len(shown)} more arguments)"]
        shown.append(argument)
    return shown


def _each_redacted(arguments: Iterable[str]) -> Iterator[str]:
    for flag, argument in pairwise(chain(("",), arguments)):
        is_short = len(flag) + len(argument) <= _LONGEST_ARGUMENT
        yield _shown(flag, argument) if is_short else _shown.__wrapped__(flag, argument)


@lru_cache(maxsize=4096)
def _shown(flag: str, argument: str) -> str:
    """An argument that follows `flag`. Cached: the arguments of a fleet are the same at every reconcile."""
    is_secret = not argument.startswith("-") and _SECRET_FLAG.matches(flag[:_LONGEST_ARGUMENT])
    return _HIDDEN if is_secret else redacted(argument, _LONGEST_ARGUMENT)


def _without_secrets(text: str) -> str:
    if not _TRIGGER.is_in(text):
        return text
    for pattern in _SECRETS:
        text = pattern.replace(text, _HIDDEN)
    return text
