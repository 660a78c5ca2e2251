"""Texts of others without what looks like a secret: an engine's last words, an API server's message, a log line."""

import re
from collections.abc import Sequence
from itertools import accumulate, pairwise

_HIDDEN = "[hidden]"
_LONGEST_ARGUMENT = 256
_LONGEST_COMMAND_LINE = 16384
_SECRETS = (
    re.compile(r"(?i)\b(?P<kept>(?:bearer|basic)\s+)[\w.~+/=-]{6,}"),
    re.compile(r"(?P<kept>)\b(?:hf_|sk-|ghp_|glpat-|AKIA|xox[abp]-)[\w-]{8,}"),
    re.compile(r"(?P<kept>)\beyJ[\w-]+\.[\w-]+\.[\w-]*"),  # a JSON web token, as service accounts have
    re.compile(
        r"(?i)(?P<kept>(?:token|api[-_]?key|password|passwd|secret[-_]?key|access[-_]?key|authorization)"
        r"[\"']?\s*[:=]\s*[\"']?)(?!\[hidden\])[^\s\"',;}&]{4,}"
    ),
    re.compile(r"(?i)(?P<kept>--[\w-]*(?:token|key|password|secret)\s+)(?!-)\S{4,}"),
    re.compile(r"(?P<kept>\benv\[\d+\]\.value: [\w ]+: )\"[^\"]*\""),  # an API server quotes what it refuses
    re.compile(r"(?P<kept>://[^\s/:@]+:)[^\s/@]+(?=@)"),  # a password in a URL
    re.compile(r"(?i)(?P<kept>[\"']?(?:prompt|messages|content)[\"']?\s*[:=]\s*)(?:\"[^\"]*\"|'[^']*'|\[.*\])"),
)
"""What looks like a credential or a prompt, wherever it came from."""

_SIGNS = (
    *("token", "key", "passw", "secret", "bearer", "basic", "authorization"),
    *("hf_", "sk-", "ghp_", "glpat-", "akia", "xox", "eyj"),
    *(".value:", "@", "prompt", "messages", "content"),
)
"""Each of the above needs one of these. Nearly every text has none, and then this is all that it costs."""

_SECRET_FLAG = re.compile(r"(?i)--[\w-]*(?:token|key|password|secret)")


def without_secrets(text: str) -> str:
    """The text with everything that looks like a credential or a prompt replaced."""
    if not _has_signs(text):
        return text
    for pattern in _SECRETS:
        text = pattern.sub(rf"\g<kept>{_HIDDEN}", text)
    return text


def shown_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line for everybody's eyes: what follows a flag such as --hub-token is hidden too.

    It stands in a status beside the spec that it comes from: 256 characters of each argument, 16 kB at most of all.
    """
    return _beginning([_shortened(argument) for argument in _without_secret_values(arguments)])


def _without_secret_values(arguments: Sequence[str]) -> Sequence[str]:
    if not _has_signs(" ".join(arguments)):
        return arguments
    return [
        _HIDDEN if _SECRET_FLAG.fullmatch(flag) and not argument.startswith("-") else without_secrets(argument)
        for flag, argument in pairwise(("", *arguments))
    ]


def _shortened(argument: str) -> str:
    if len(argument) <= _LONGEST_ARGUMENT:
        return argument
    return f"{argument[:_LONGEST_ARGUMENT]}… ({len(argument)} characters)"


def _beginning(arguments: list[str]) -> list[str]:
    sizes = (len(argument.encode()) for argument in arguments)
    shown = sum(size <= _LONGEST_COMMAND_LINE for size in accumulate(sizes))
    left = len(arguments) - shown
    return [*arguments[:shown], *([f"… ({left} more arguments)"] if left else [])]


def _has_signs(text: str) -> bool:
    folded = text.lower()
    return any(sign in folded for sign in _SIGNS)
