"""What engines with a command line have in common: which options are the operator's, and which a version knows."""

from collections.abc import Iterable, Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.engine import OwnedArguments, RemedyByValue

Options = tuple[tuple[str, ...], ...]
"""Options as words; the first word of each begins with the flag, which decides whether a version knows it."""


def known_words(version: EngineVersion, options: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The words of the options that a version knows."""
    return tuple(word for option in options if version.knows(option[0].partition("=")[0]) for word in option)


def owned_arguments(
    owned: Mapping[str, tuple[str, ...]],
    *,
    beginnings: bool,
    by_value: Mapping[str, RemedyByValue] | None = None,
) -> OwnedArguments:
    """The options and variables of a table: remedy → their words, several of them in one text.

    With `beginnings` the beginning of an option is that option, as for argparse (`--max-b`, `-t`). Exact names win, so
    that each has its own remedy and not that of a longer one that begins with it.
    """
    words = {word: remedy for remedy, texts in owned.items() for word in " ".join(texts).split()}
    flags = {word: remedy for word, remedy in words.items() if word.startswith("-")}
    return OwnedArguments(
        flags={**_beginnings(flags), **flags} if beginnings else flags,
        environment={word: remedy for word, remedy in words.items() if not word.startswith("-")},
        by_value=by_value or {},
    )


def _beginnings(flags: Mapping[str, str]) -> dict[str, str]:
    """Every beginning that is longer than its dashes."""
    return {
        flag[:end]: remedy
        for flag, remedy in flags.items()
        for end in range(len("--x") if flag.startswith("--") else len("-x"), len(flag))
    }
