"""The story `make demo` tells."""

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import click

from demo.operator_process import operator_runs, start_operator, stop_operator
from sandbox import Sandbox, SandboxError
from sandbox.progress import Progress

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "manifests/examples/llamacpp-cpu.yaml"
NAME, CLAIM = "chat", "models"
CRD = "crd/llmservices.llmservice.dev"
QUESTION = "Say something."
_READY_SECONDS = 120
_ANSWER_SECONDS = 60


def show() -> None:
    """Cluster up, operator, example, Ready, one answer, and where to look next."""
    started = time.monotonic()
    progress = Progress()
    box = Sandbox.named("demo")
    box.up()
    with progress.step("CRD, and a claim with a tiny random model"):
        _kubectl(box, "apply", "--server-side", "-f", str(ROOT / "crds"))
        _wait_established(box)
        box.model_volume("default", CLAIM)
    with progress.step("operator"):
        log = start_operator(box)
    with progress.step(f"kubectl apply -f {EXAMPLE.relative_to(ROOT)}; waiting for Ready"):
        _kubectl(box, "apply", "-f", str(EXAMPLE))
        _wait_ready(box, log)
    with progress.step("one chat completion through the Service"):
        answer = _ask(box)
    click.echo(f"\n{answer}\n")
    click.echo(_kubectl(box, "get", "llm"))
    click.echo(_way_on(box, log))
    click.echo(f"From start to answer: {time.monotonic() - started:.0f} s")


def take_down() -> None:
    """Stop the operator, then the cluster."""
    box = Sandbox.named("demo")
    with Progress().step("taking the demo down"):
        stop_operator(box)
        box.down()


def _wait_established(box: Sandbox) -> None:
    """`kubectl wait` fails on a CRD that has no conditions yet: try again."""
    for _ in range(50):
        try:
            _kubectl(box, "wait", "--for=condition=Established", CRD, "--timeout=10s")
        except SandboxError:
            time.sleep(0.1)
        else:
            return
    raise SandboxError(f"{CRD} is not established; see kubectl describe {CRD}")


def _wait_ready(box: Sandbox, log: Path) -> None:
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        if _shows_ready(box):
            return
        if not operator_runs(box):
            raise SandboxError(f"the operator has ended; the last lines of {log}:\n{log.read_text()[-2000:]}")
    status = _kubectl(box, "get", "llm", NAME, "-o", "yaml")
    raise SandboxError(f"not Ready within {_READY_SECONDS} s; the log is {log}\n{status}")


def _shows_ready(box: Sandbox) -> bool:
    try:
        _kubectl(box, "wait", "--for=condition=Ready", f"llm/{NAME}", "--timeout=3s")
    except SandboxError:
        return False
    return True


def _ask(box: Sandbox) -> str:
    """The question and the answer. The host is no cluster member, so it asks the Service by its address."""
    address = _kubectl(box, "get", "service", NAME, "-o", "jsonpath={.spec.clusterIP}")
    body = {"model": NAME, "max_tokens": 16, "messages": [{"role": "user", "content": QUESTION}]}
    request = urllib.request.Request(
        f"http://{address}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    answer = _answered(request)
    return (
        f"POST http://{NAME}.default.svc/v1/chat/completions\n"
        f"  you:  {QUESTION}\n"
        f"  {answer['model']}: {answer['choices'][0]['message']['content']!r}   (random weights: no sense, but real)\n"
        f"  {answer['usage']['prompt_tokens']} + {answer['usage']['completion_tokens']} tokens"
    )


def _answered(request: urllib.request.Request) -> dict[str, Any]:
    """A fresh Service refuses for up to a second, until kube-proxy has written its rules."""
    deadline = time.monotonic() + _ANSWER_SECONDS
    while True:
        try:
            with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as response:  # noqa: S310
                answer: dict[str, Any] = json.load(response)
                return answer
        except urllib.error.URLError as error:
            if time.monotonic() > deadline:
                raise SandboxError(f"the Service does not answer: {error}") from error
            time.sleep(0.2)


def _way_on(box: Sandbox, log: Path) -> str:
    return f"""Look around:
  eval "$({sys.executable} -m sandbox env --name {box.spec.name})"
  kubectl get llm,deploy,svc,pods          kubectl describe llm {NAME}
  kubectl scale llm {NAME} --replicas=2     kubectl logs deploy/{NAME}
  tail -f {log}
Take it down:
  make demo-down"""


def _kubectl(box: Sandbox, *arguments: str) -> str:
    command = [str(box.kubectl), "--kubeconfig", str(box.kubeconfig), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SandboxError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout
