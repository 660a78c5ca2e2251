"""The command `llmservice`: one file per verb.

Belongs here: arguments, output, exit codes. Does not: decisions; a verb calls the functions the operator calls.
Exit codes: 0 done, 1 refused by the input checks or the cluster, 2 wrong usage.
"""

import gc
import importlib
import os

import click

from llmservice import __version__

VERBS = {
    "bench": "Put load on a service, and print what it measured.",
    "cache": "List models on claims, download them before they are needed, and remove what nobody needs.",
    "crd": "Print the CustomResourceDefinition.",
    "doctor": "Check what has to be right in a cluster, each finding with its way out.",
    "download": "Download a model to a claim, once and checked.",
    "explain": "Explain why a service has its number of replicas.",
    "fit": "Show on which GPUs a model fits, and how many requests it serves there.",
    "images": "Print every engine image a cluster needs.",
    "inspect": "Print what a model's files say of it.",
    "plan": "Print what would run for LLMServices and why, or why they are refused.",
    "render": "Print the manifests of LLMServices, without a cluster.",
    "replay": "Replay recorded load against simulated replicas.",
    "run": "Run the operator.",
    "status": "Show what runs, where, and why: all LLMServices, or one of them on a screen.",
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
            command: click.Command = importlib.import_module(f"llmservice.cli.{cmd_name}").command
        finally:
            gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))


@click.command(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="llmservice")
def main() -> None:
    """Serve large language models on Kubernetes: nine engines, from vLLM to Ollama, by one resource.

    An LLMService becomes a Deployment, a Service and other objects that it needs. `llmservice run` is the operator;
    `llmservice plan` says what it would do with a file, `llmservice render` prints the manifests.

    \b
    llmservice crd | kubectl apply -f -
    llmservice plan chat.yaml
    llmservice validate manifests/*.yaml -o sarif > findings.sarif
    llmservice render chat.yaml
    llmservice run --context my-cluster
    """  # noqa: D301  (the backspace is click's mark: keep these lines as they are)
