"""`llmservice completion`: what a shell needs to complete verbs, options and names."""

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")
_PROGRAM, _VARIABLE = "llmservice", "_LLMSERVICE_COMPLETE"


@click.command(name="completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def command(shell: str) -> None:
    """Print the completion of a SHELL: verbs, options, and names of LLMServices, namespaces and contexts.

    Names are read from the cluster with your own rights, within three seconds; without a cluster there are none. Behind
    `kubectl llm` kubectl asks by itself: `kubectl_complete-llm` is installed with the command.

    \b
    source <(llmservice completion bash)
    llmservice completion zsh > "${fpath[1]}/_llmservice"
    llmservice completion fish > ~/.config/fish/completions/llmservice.fish
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    if of_shell := get_completion_class(shell):
        # Always for this name: kubectl completes its plugins itself.
        click.echo(of_shell(click.Command(_PROGRAM), {}, _PROGRAM, _VARIABLE).source())
