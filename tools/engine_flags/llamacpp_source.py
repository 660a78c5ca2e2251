"""The options of llama.cpp's server, read from common/arg.cpp: every `add_opt(common_arg(…))` that its filter lets in.

The first braces of an option hold its spellings, a second pair its negations. What follows decides: `set_examples`
names the programs that have it (all of them when it is absent), `set_excludes` those that do not, `set_env` its twin.
The handler's parameters say which values it takes: each text or number behind the first is one, a bool is none.
"""

import re
from collections.abc import Iterator

from llmservice.catalog.recorded_flags import Option, Takes

_OPTION = re.compile(r"\badd_opt\(common_arg\(")
_END = "return ctx_arg;"
_LISTS = re.compile(r"\s*(?://[^\n]*\s*)*\{([^{}]*)\}(?:,\s*\{([^{}]*)\})?")
_STRING = re.compile(r'"([^"]*)"')
_CALL = re.compile(r"\.set_(examples|excludes|env)\(([^()]*)\)")
_NAMED = re.compile(r"std::initializer_list<enum llama_example> (\w+) = \{([^}]*)\};")
_HANDLER = re.compile(r"\[[^]]*\]\s*\(\s*common_params\s*&\s*\w*\s*((?:,[^()]*)?)\)")
_REMOVED = ("the argument has been removed", "arg_removed(")
_PROGRAMS = frozenset({"LLAMA_EXAMPLE_COMMON", "LLAMA_EXAMPLE_SERVER"})


def server_options(source: str) -> list[Option]:
    """Every option of the server, in the source's order; raises ValueError when the source defines none.

    An option that is there only to say that it is gone is left out.
    """
    named = {name: _words(programs) for name, programs in _NAMED.findall(source)}
    # Options with another default per program are defined once for each.
    if not (options := list(dict.fromkeys(_options(source.partition(_END)[0], named)))):
        raise ValueError("no add_opt(common_arg(…)) in this source: is it common/arg.cpp?")
    return options


def _options(source: str, named: dict[str, frozenset[str]]) -> Iterator[Option]:
    for block in _OPTION.split(source)[1:]:
        calls = dict(_CALL.findall(block))
        examples = calls.get("examples", "LLAMA_EXAMPLE_COMMON")
        programs = named.get(examples, _words(examples))
        excluded = "LLAMA_EXAMPLE_SERVER" in _words(calls.get("excludes", ""))
        if programs & _PROGRAMS and not excluded and not any(word in block for word in _REMOVED):
            yield Option(_spellings(block), "".join(_STRING.findall(calls.get("env", ""))), _takes(block))


def _spellings(block: str) -> tuple[str, ...]:
    """The spellings in the source's order, negations last."""
    lists = _LISTS.match(block)
    return tuple(name for part in (lists.groups("") if lists else ()) for name in _STRING.findall(part))


def _takes(block: str) -> Takes:
    if not (handler := _HANDLER.search(block)):
        return Takes.UNKNOWN
    values = [each for each in handler[1].split(",")[1:] if not re.match(r"\s*bool\b", each)]
    return (Takes.NONE, Takes.ONE, Takes.TWO)[len(values)]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))
