"""The page of every cause that an engine's log names, from the engines' patterns."""

from collections.abc import Iterator, Mapping

from llmservice.engines.engine import Engine, LogPattern

_HEAD = """\
# Why an engine exited

The operator reads the end of an engine's log when it exits, and looks for words that name the cause. The condition
`Ready` then has the reason, the cause, the line, and what to do: the same for every engine where the words are those of
a library, as listed first. A number in braces is read from the line; `{largest}` is the largest context that fits, by
the engine's own figure or else by ours.

Without such a line the exit code decides (132, 135, 137 and 139 have a cause), and the reason of an eviction.

The last column says what a third failed start of the same cause means. **Stalled**: no time helps, so the service is
`Stalled`, which GitOps tools read as failed, until somebody edits it or mends what the message names. **may pass**: it
stays `Reconciling`, whatever the number of crashes. **open**: nobody can tell, so it stays `Reconciling` until the
deadline of the rollout.
"""
_COLUMNS = "| cause | reason | what to do | third time |\n|---|---|---|---|\n"


def causes_page(engines: Mapping[str, Engine]) -> str:
    """The page as Markdown: the causes of several engines, then those of each."""
    shared = [each for each in _all(engines) if sum(each in engine.log_patterns for engine in engines.values()) > 1]
    parts = [_HEAD, _section("Several engines", shared)]
    for name, engine in engines.items():
        parts.append(_section(name, [each for each in engine.log_patterns if each not in shared]))
    return "\n".join(parts)


def _all(engines: Mapping[str, Engine]) -> Iterator[LogPattern]:
    yield from dict.fromkeys(each for engine in engines.values() for each in engine.log_patterns)


def _section(title: str, log_patterns: list[LogPattern]) -> str:
    rows = dict.fromkeys(
        f"| {each.cause} | `{each.reason}` | {each.remedy_in_numbers or each.remedy} | {_third_time(each)} |\n"
        for each in log_patterns
    )
    return f"## {title}\n\n{_COLUMNS}{''.join(rows)}"


def _third_time(each: LogPattern) -> str:
    if each.self_healing:
        return "may pass"
    return "open" if each.uncertain else "Stalled"
