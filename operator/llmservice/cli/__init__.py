"""The command `llmservice`: one file per verb.

Belongs here: arguments, output, exit codes. Does not: decisions; a verb calls the functions the operator calls.
Exit codes: 0 done, 1 refused by the input checks or the cluster, 2 wrong usage.
"""

import gc
import importlib
import os

import click
from click.shell_completion import CompletionItem

from llmservice import __version__

VERBS = {
    "activate": "Hold requests for services that sleep until a replica is ready.",
    "bench": "Put load on a service, and print what it measured.",
    "cache": "List models on claims, download them before they are needed, and remove what nobody needs.",
    "completion": "Print the completion of a shell: bash, zsh or fish.",
    "cost": "Show what the devices of services cost, and how much of it nobody used.",
    "crd": "Print the CustomResourceDefinition.",
    "diff": "Show what applying a file would change, and whether pods restart.",
    "doctor": "Check what has to be right in a cluster, each finding with its way out.",
    "download": "Download a model to a claim, once and checked.",
    "events": "Show what happened to a service, its pods and its Jobs.",
    "explain": "Explain why a service has its number of replicas.",
    "fit": "Show on which GPUs a model fits, and how many requests it serves there.",
    "gateway-config": "Print the configuration of a LiteLLM proxy: one address for many models.",
    "images": "Print every engine image a cluster needs.",
    "inspect": "Print what a model's files say of it.",
    "logs": "Print the log of the pod that matters first.",
    "plan": "Print what would run for LLMServices and why, or why they are refused.",
    "render": "Print the manifests of LLMServices, without a cluster.",
    "replay": "Replay recorded load against simulated replicas.",
    "run": "Run the operator.",
    "serve-ui": "Serve the page to the users of a cluster, each with their own rights.",
    "status": "Show what runs, where, and why: all LLMServices, or one of them on a screen.",
    "ui": "Show on a page of this machine what runs, where, and why; live.",
    "wake": "Start a replica of a service that sleeps, before the first request does.",
    "validate": "Check files of LLMServices: every finding at once, for pipelines.",
}
"""Each verb is the module of its name, imported on use, so that `render` does not import kopf."""

# Nobody's plugin has a word in our types; pydantic would look for one in every package that is installed.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


class _Verbs(click.Group):
    """Loads the module of a verb on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  (click's signature)
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        gc.disable()  # nothing that an import makes is garbage
        try:
            command: click.Command = importlib.import_module(f"llmservice.cli.{cmd_name.replace('-', '_')}").command
        finally:
            gc.enable()
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Without importing each verb to ask for its help."""
        verbs = [CompletionItem(name, help=said) for name, said in sorted(VERBS.items()) if name.startswith(incomplete)]
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="llmservice")
@click.pass_context
def main(context: click.Context) -> None:
    """Serve large language models on Kubernetes: nine engines, from vLLM to Ollama, by one resource.

    An LLMService becomes a Deployment, a Service and other objects that it needs. `llmservice run` is the operator;
    `llmservice plan` says what it would do with a file, `llmservice render` prints the manifests.

    \b
    llmservice crd | kubectl apply --server-side -f -
    llmservice doctor
    llmservice plan chat.yaml
    llmservice diff chat.yaml
    llmservice status chat --watch
    llmservice logs chat -f
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
    if os.environ.get("NO_COLOR"):
        context.color = False  # no-color.org; click itself leaves colours out where nobody looks
