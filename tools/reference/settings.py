"""The page of the operator's settings, from the table in the code."""

from collections.abc import Sequence

from llmservice.settings import Variable

_HEAD = """\
# Settings of the operator

Written from the code by `make docs`. Environment variables of the operator's container, read once at its start; an
empty one is as good as none, and one that cannot be understood ends the start with an error that names it. What pods
get from settings is decided once per generation of a resource: a changed setting never restarts a running pod.

"""


def settings_page(variables: Sequence[Variable]) -> str:
    """The page as Markdown."""
    rows = [
        f"| `{variable.name}` | {variable.meaning} | {variable.default} | `{variable.example}` |"
        for variable in variables
    ]
    return _HEAD + "\n".join(["| variable | meaning | default | example |", "|---|---|---|---|", *rows]) + "\n"
