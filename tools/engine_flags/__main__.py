"""`python -m tools.engine_flags vllm 0.33.0 …`: records what engine versions read, for the catalogue.

Each engine has a module of its name, with a command that knows where its options are written down.
"""

import pkgutil
from importlib import import_module
from pathlib import Path

import click


@click.group()
def main() -> None:
    """Record which options engine versions know."""


for _module in pkgutil.iter_modules([str(Path(__file__).parent)]):
    if _module.name != "__main__":
        _command = getattr(import_module(f"{__package__}.{_module.name}"), "command", None)
        if _command is not None:
            main.add_command(_command)

if __name__ == "__main__":
    main()
