"""Texts of others without what looks like a secret: an engine's last words, an API server's message, a log line.

A text is cut first, then read: the reader's time is bounded whatever it is given. Behind what is shown a margin is
read too and never shown, so that no half of a secret stays because its other half was cut off.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from llmservice.untrusted.patterns import compiled, finder
from llmservice.untrusted.texts import printable

LONGEST_TEXT = 65_536
"""Characters that are read of any text."""

_HIDDEN = "[hidden]"
_LONGEST_ARGUMENT = 256
_LONGEST_COMMAND_LINE_BYTES = 16_384
_MARGIN = 1024
"""Only a password in an address is known by what follows it; none is as long as this."""
_PREFIXES = (
    *("hf_", "api_org_", "sk-", "sk_live_", "sk_test_", "rk_live_", "nvapi-", "gsk_", "r8_", "pcsk_"),
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-"),
    *("AKIA", "ASIA", "ABIA", "ACCA", "AIza", "ya29\\.", "dop_v1_", "hvs\\.", "SG\\.", "shpat_", "shpss_"),
    *("xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "npm_", "pypi-", "dckr_pat_"),
)
"""How tokens begin that say whose they are: of model hubs, code hosts, clouds, chats, registries and inference APIs."""

_TEXT_VALUE = r"""(?:\\*"(?:[^"\\]|\\.)*(?:"|\\*\z)|'(?:[^'\\]|\\.)*(?:'|\\*\z)|\[[^h\n][^\n]*|\{[^\n]*)"""
"""A text in quotes, an open one to its end; a list or an object to the end of the line, as nobody counts brackets.

Not what begins like `[hidden]`, so that hiding twice changes nothing.
"""
_NAMES = (
    r"(?:token|api[-_]?key|password|passwd|passphrase|secret[-_]?key|(?:access|account|private)[-_]?key"
    r"|[-_]secret|credentials?|authorization)"
)
_OPENING = r"""(?:(?:Some\(|\[)\\*["']|\\*["']?)"""
"""What a value stands in: quotes, those in a list as Python prints it, those in an option as Rust does."""
_VALUE = r"""[^\s"',;}&\\]{4,}"""
_WORDS = (
    r"(?:(?:none|null|true|false|empty|unset|missing|required|invalid|malformed|expired|unknown|unsupported|unauthorized"
    r"|forbidden|denied|failed|failure|error|wrong|expected|unexpected|given|found|must|cannot|could|please|check|with|when"
    r"|from|this|that|context|dial|lookup|post|head|remote|connection|connect|net/http|read|rpc)"
    r"(?:[\s\"'`,;)}\]]|[.:]\s|[.:]?\z)|<[^<>\s]{0,40}>)"
)
"""What stands behind such a name and is no secret: values that say that there is none, the next word of an error's
chain, and names in angle brackets, as tokenizers have."""
_SPECIAL_TOKENS = r"(?:\b|_)(?:bos|eos|eot|eom|eog|pad|unk|sep|cls|mask|lf|nl|fim|image|video|audio)[ _-]?token"
"""Letters of a tokenizer, with their numbers."""
_SECRETS = (
    finder(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?s:.*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)"),
    finder(r"[A-Za-z0-9+/=\s\\]*-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"),  # its beginning was cut off
    finder(
        r"(?i)\b(?:(?P<ordinary>bearer\s+(?:realm=|(?:auth|token|scheme|header|credential)[a-z]*(?:[\s,;]|[.:]\s|[.:]?\z))"
        r"|basic\s+(?-i:[a-z]+)(?:[\s,;]|[.:]\s|[.:]?\z))|(?P<kept>(?:bearer|basic)\s+)[\w.~+/=-]{6,})"
    ),
    # Not lower context alone, which is a name in a program: `hf_hub_download`, `sk-learn`.
    finder(rf"\b(?:{'|'.join(_PREFIXES)})[a-z_-]*[0-9A-Z][\w-]{{4,}}(?:\.[\w-]+)*"),
    finder(r"\beyJ[\w-]{8,}(?:\.[\w-]*){0,4}"),  # a JSON web token, as service accounts have
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
    finder(r"(?P<kept>\benv\[\d+\]\.value: [\w ]+: )\"(?:[^\"\\]|\\.)*(?:\"|\\*\z)"),  # an API server quotes it
    finder(r"(?P<kept>://[^\s/:@]*:)[^\s/]+(?P<tail>@)"),
    finder(r"(?P<kept>://)[^\s/:@]{16,}(?P<tail>@)"),
    finder(r"(?i)(?P<kept>\bcookie\\*[\"']?\s*[:=]\s*)[^\n]+"),
    finder(rf"(?i)(?P<kept>\b(?:prompt|messages|content|inputs|prompt_token_ids)\\*[\"']?\s*[:=]\s*){_TEXT_VALUE}"),
    finder(
        r"(?i)(?P<kept>[\"'](?:input|text|instructions|query|suffix|documents|arguments)\\*[\"']\s*:\s*)" + _TEXT_VALUE
    ),
)
"""What looks like a credential or a prompt, wherever it came from."""

_SIGNS = (
    *("token", "key", "passw", "passphrase", "secret", "bearer", "basic", "authorization", "credential", "cookie"),
    *(prefix.lower().replace("\\", "") for prefix in _PREFIXES),
    *("eyj", "sig", ".value:", "@", "prompt", "messages", "content", "input", "text", "instructions", "query"),
    *("suffix", "documents", "arguments"),
)
"""Each of the above needs one of these. Nearly every text has none, and then this is all that it costs."""
_SIGN = compiled("(?i)" + "|".join(sign.replace(".", r"\.") for sign in _SIGNS))

_SECRET_FLAG = compiled(r"(?i)--[\w-]*(?:token|key|password|secret)")


def redacted(text: str, limit: int = LONGEST_TEXT) -> str:
    """The first `limit` characters, printable, with everything that looks like a credential or a prompt replaced.

    What is left out is counted behind them.
    """
    read = _hidden(printable(text[: limit + _MARGIN]))
    # Behind the cut there may be the other half of a secret: then nobody can judge the margin, unless it is hidden.
    is_torn = len(text) > limit + _MARGIN and not read.endswith(_HIDDEN)
    end = max(0, min(limit, len(read) - _MARGIN)) if is_torn else min(limit, len(read))
    if len(text) <= limit and len(read) <= limit:
        return read
    return f"{read[:end]}… ({max(len(text), len(read)) - end} more characters)"


def redacted_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line for everybody's eyes: what follows a flag such as --hub-token is hidden too.

    It stands in a status beside the spec that it comes from: 256 characters of each argument, 16 kB at most of all.
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
    """An argument behind another one. Fleets say the same again and again, each time that a resource is looked at."""
    is_secret = not argument.startswith("-") and _SECRET_FLAG.matches(flag[:_LONGEST_ARGUMENT])
    return _HIDDEN if is_secret else redacted(argument, _LONGEST_ARGUMENT)


def _hidden(text: str) -> str:
    if not _SIGN.is_in(text):
        return text
    for pattern in _SECRETS:
        text = pattern.replace(text, _HIDDEN)
    return text
