"""The verbs of `python -m sandbox`. Progress goes to standard error, answers to standard output."""

import os
import shlex
from pathlib import Path

import click

from sandbox import preflight
from sandbox.build_helm import helm_build
from sandbox.build_s3 import s3_build
from sandbox.cache import cache_folder
from sandbox.components import Journal
from sandbox.condition import observe
from sandbox.engine_image import ARCHIVE
from sandbox.errors import SandboxError
from sandbox.images import image_names
from sandbox.progress import Progress
from sandbox.sandbox import Sandbox
from sandbox.vllm_image import vllm_image_build

NAME = click.option("--name", default="default", show_default=True, help="Which sandbox; several run side by side.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """A real Kubernetes on this machine: pods run, kubectl works, GPUs are pretended."""


@main.command()
@click.option("--install-packages", is_flag=True, help="First install missing Debian packages with apt-get.")
@click.option("--for-tests", is_flag=True, help="Also what only the project's tests need: Helm and an S3 server.")
def build(*, install_packages: bool, for_tests: bool) -> None:
    """Build Kubernetes, llama.cpp and the images into the cache; done once."""
    if install_packages:
        preflight.install_packages(Progress(), for_tests=for_tests)
    Sandbox.named().build()
    if for_tests:
        helm_build().ensure(cache_folder(), Progress())
        s3_build().ensure(cache_folder(), Progress())


@main.command("build-vllm")
def build_vllm() -> None:
    """Pack the real vLLM for CPUs as an image (6 GB) and print the archive; `images load` brings it in."""
    click.echo(vllm_image_build().ensure(cache_folder(), Progress()) / ARCHIVE)


@main.command()
@NAME
@click.option("--gpus", default=4, show_default=True, help="How many nvidia.com/gpu the node pretends to have.")
@click.option("--audit-log", type=click.Path(path_type=Path), help="Write one JSON line per API request here.")
def up(name: str, gpus: int, audit_log: Path | None) -> None:
    """Start the sandbox; again: start only what is not running."""
    box = Sandbox.named(name, gpus=gpus, audit_log=audit_log)
    changed = box.up()
    click.echo(f"sandbox {name!r} is up" if changed else f"sandbox {name!r} was already up: nothing to do")
    click.echo(f'look around: eval "$(python -m sandbox env --name {name})" && kubectl get pods --all-namespaces')


@main.command()
@NAME
def down(name: str) -> None:
    """Stop the sandbox and remove all of it; the builds stay."""
    removed = Sandbox.named(name).down()
    click.echo(f"sandbox {name!r} is gone" if removed else f"there is no sandbox {name!r}: nothing to do")


@main.command("save-etcd")
@NAME
@click.argument("folder", type=click.Path(path_type=Path, exists=False))
def save_etcd(name: str, folder: Path) -> None:
    """Copy what etcd holds into a new FOLDER."""
    Sandbox.named(name).save_etcd(folder)
    click.echo(f"saved; back to it with: python -m sandbox restore-etcd --name {name} {folder}")


@main.command("restore-etcd")
@NAME
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def restore_etcd(name: str, folder: Path) -> None:
    """Restart the control plane with the data in FOLDER: a disaster drill."""
    Sandbox.named(name).restore_etcd(folder)
    click.echo(f"sandbox {name!r} is as it was when {folder} was saved")


@main.command()
@NAME
def env(name: str) -> None:
    """Print shell exports: KUBECONFIG, and PATH with the kubectl of the same release."""
    box = Sandbox.named(name)
    box.cell()
    click.echo(f"export KUBECONFIG={shlex.quote(str(box.kubeconfig))}")
    click.echo(f'export PATH={shlex.quote(str(box.kubectl.parent))}:"$PATH"')


@main.command("preflight")
@click.option("--install", is_flag=True, help="Install the missing Debian packages with apt-get.")
def preflight_(*, install: bool) -> None:
    """Check that this machine can build and run a sandbox."""
    if install:
        preflight.install_packages(Progress())
    preflight.check_machine(building=True)
    preflight.check_machine(building=False)
    click.echo("this machine can build and run a sandbox")


@main.command(context_settings={"ignore_unknown_options": True})
@NAME
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def enter(name: str, command: tuple[str, ...]) -> None:
    """Run a COMMAND inside the sandbox's namespaces (`ctr`, `ip`, `iptables-save`); without one, a shell."""
    inside = Sandbox.named(name).cell().command(*(command or ("sh",)))
    os.execvp(inside[0], inside)  # noqa: S606 - no shell is wanted between


@main.command()
@NAME
def status(name: str) -> None:
    """Show every component, the node and the images; exit code 0 only when all is well."""
    box = Sandbox.named(name)
    condition = observe(box.spec, box.cell())
    click.echo("\n".join(condition.lines()))
    if not condition.is_well:
        click.echo(f"\nnot well: `up --name {name}` restarts what has ended; for what stays silent, `down` and `up`")
        raise SystemExit(1)


@main.command()
@NAME
@click.argument("component", required=False)
@click.option("-f", "--follow", is_flag=True, help="Go on printing as lines come, until interrupted.")
@click.option("-n", "--lines", default=50, show_default=True, help="How many of the last lines to begin with.")
def logs(name: str, component: str | None, *, follow: bool, lines: int) -> None:
    """Print a component's log; without COMPONENT, list the components. Pods: kubectl logs."""
    journal = Journal(folder=Sandbox.named(name).spec.folder)
    if component is None:
        click.echo("\n".join(journal.names()) or f"nothing was started in sandbox {name!r}")
        return
    if not journal.log(component).exists():
        raise SandboxError(f"no log of {component!r}; there are: {', '.join(journal.names()) or 'none'}")
    tail = ["tail", f"--lines={lines}", *(["--follow"] if follow else []), str(journal.log(component))]
    os.execvp("tail", tail)  # noqa: S606 - no shell is wanted


@main.group()
def images() -> None:
    """Images in the sandbox's containerd."""


@images.command()
@NAME
@click.argument("archive", type=click.Path(path_type=Path))
def load(name: str, archive: Path) -> None:
    """Import an OCI or Docker archive."""
    click.echo("\n".join(Sandbox.named(name).load_image(archive)))


@images.command("list")
@NAME
def list_(name: str) -> None:
    """List the images by the names pods use."""
    click.echo("\n".join(image_names(Sandbox.named(name).cell())))


@main.command("model-volume")
@NAME
@click.option("--namespace", "-n", default="default", show_default=True)
@click.option("--claim", default="models", show_default=True)
def model_volume(name: str, namespace: str, claim: str) -> None:
    """Make a bound claim that shows the tiny model at /tiny.gguf to pods of a namespace."""
    Sandbox.named(name).model_volume(namespace, claim)
    click.echo(f"claim {namespace}/{claim} shows the sandbox's models; the tiny one is pvc://{claim}/tiny.gguf")
