"""Reads a list of arguments as an engine's parser would: which option each word names, and which words are its values.

Sources: argparse of Python 3.11 and vllm/utils/argparse_utils.py (FlexibleArgumentParser.parse_args), llama.cpp's
common/arg.cpp (common_params_parse_ex), clap 4 for TGI.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from llmservice.catalog.recorded_flags import Option, Takes
from llmservice.engines.engine import Syntax

LONGEST_FLAG = 128
"""Longer than any engine's flag; limits what is compared and repeated of a word."""

_MISSING_AT_MOST = 2
"""Letters that one forgets; who abbreviates leaves out more."""

Options = Mapping[str, Option]
"""Spelling → option."""


@dataclass(slots=True)
class Use:
    """One option as it is used.

    `index` is its place among the arguments, `name` what stands there before an equals sign, cut; empty for words
    before the first option. `takes` is None when the version has no such option. `attached`: a value stands in the same
    word. `values` are the places of the words behind it.
    """

    index: int
    name: str
    takes: Takes | None
    attached: bool = False
    is_part: bool = False
    values: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many values it has."""
        return len(self.values) + self.attached

    @property
    def most(self) -> int | None:
        """The most values it may have; behind an equals sign stands one."""
        most = self.takes.most if self.takes is not None else None
        return 1 if self.attached and most is None and self.takes else most

    @property
    def fits(self) -> bool:
        """Whether the version has it, and it takes as many values."""
        if self.takes is None:
            return False
        return self.takes.least <= self.count and (self.most is None or self.count <= self.most)


def uses_in(args: Sequence[str], options: Options, syntax: Syntax) -> list[Use]:
    """The options in a list of arguments, in order, each with its values. Linear in the number of arguments."""
    uses: list[Use] = []
    for index, word in enumerate(args):
        is_value = _is_value(word, uses[-1] if uses else None, options, syntax)
        if not is_value:
            uses.append(_use(index, word, options, syntax))
        elif uses:
            uses[-1].values.append(index)
        else:
            uses.append(Use(index, "", Takes.NONE, values=[index]))
    return uses


def name_in(word: str) -> str:
    """What stands before the equals sign, cut to the length of a flag."""
    return word[: LONGEST_FLAG + 1].partition("=")[0]


def completions(name: str, options: Options) -> list[str]:
    """The spellings that begin with a name."""
    return [spelling for spelling in options if spelling.startswith(name)]


def _use(index: int, word: str, options: Options, syntax: Syntax) -> Use:
    name = name_in(word)
    attached = "=" in word[: LONGEST_FLAG + 1]
    short, long = name[:2], syntax.levels.get(name[:2], "")
    if long and (known := options.get(short) or options.get(long)):
        return Use(index, name, known.takes, attached=attached or len(name) > len(short))
    whole, dot, _ = name.partition(".") if syntax.parts else (name, "", "")
    found = _found(whole, options, syntax)
    if found is None:
        return Use(index, name, None, attached=attached)
    if not dot:
        return Use(index, name, found.takes, attached=attached)
    return Use(index, name, Takes.ONE if found.takes != Takes.NONE else None, attached=attached, is_part=True)


def _found(name: str, options: Options, syntax: Syntax) -> Option | None:
    """The option of a name, or of its beginning: one that lacks only a letter or two is a misspelling."""
    if syntax.underscores and name.startswith("--"):
        name = name.replace("_", "-")
    if (option := options.get(name)) or not (syntax.abbreviations and name.startswith("--")):
        return option
    longer = completions(name, options)
    return options[longer[0]] if len(longer) == 1 and len(longer[0]) > len(name) + _MISSING_AT_MOST else None


def _is_value(word: str, use: Use | None, options: Options, syntax: Syntax) -> bool:
    """Whether a word is a value of the option before it, or at least no option itself."""
    if not word.startswith("-"):
        return True
    name = name_in(word)
    if name in options:
        return False
    if use and use.takes is not None and use.count < use.takes.least and (syntax.any_word or use.is_part):
        return True
    if not name.strip("-") or _is_number(name):
        return True
    # A parser takes a word with spaces for a value; with the name of an option in front it is one by mistake.
    first = name.split(maxsplit=1)[0]
    return first != name and _found(first, options, syntax) is None


def _is_number(text: str) -> bool:
    digits = text[1:].replace(".", "", 1)
    return digits.isascii() and digits.isdigit()
