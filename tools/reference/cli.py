"""The page of the command, from the verbs themselves."""

from collections.abc import Iterator, Mapping

import click

_HEAD = """\
# The command `llmservice`

Written from the code by `make docs`; `llmservice VERB --help` says the same. Exit codes: 0 done, 1 the input or the
cluster says no, 2 wrong usage.
"""
_WIDTH = 100


def cli_page(main: click.Group, verbs: Mapping[str, str]) -> str:
    """The page as Markdown; `verbs` are names and what each does."""
    # Without --help: a verb remembers that option from the first context it ever met.
    parent = click.Context(main, info_name="llmservice", terminal_width=_WIDTH, help_option_names=[])
    parts = [_HEAD]
    for name, purpose in sorted(verbs.items()):
        verb = main.get_command(parent, name)
        if verb is None:
            raise KeyError(name)
        parts.append(f"## llmservice {name}\n\n{purpose}\n")
        parts.extend(f"```text\n{_help(one)}\n```\n" for one in _contexts(verb, name, parent))
    return "\n".join(parts)


def _contexts(verb: click.Command, name: str, parent: click.Context) -> Iterator[click.Context]:
    """The verb, or each verb of a group."""
    context = click.Context(verb, info_name=name, parent=parent)
    if not isinstance(verb, click.Group):
        yield context
        return
    for inner, command in sorted(verb.commands.items()):
        yield click.Context(command, info_name=inner, parent=context, help_option_names=[])


def _help(context: click.Context) -> str:
    """What `--help` prints on a terminal of a fixed width, less the option itself."""
    return "\n".join(line.rstrip() for line in context.command.get_help(context).splitlines())
