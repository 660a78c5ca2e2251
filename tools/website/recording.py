"""`python -m tools.website.recording FILE`: record the terminal of the start page, from a real run on the sandbox."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from demo.operator_process import start_operator, stop_operator
from sandbox import Sandbox
from tools.website.shell import Shell
from tools.website.terminal import Shown, picture

ROOT = Path(__file__).parents[2]
_PORT = 18080
_FILE = """\
apiVersion: llmservice.dev/v1alpha1
kind: LLMService
metadata: {name: chat}
spec:
  engine: llamacpp
  model: {uri: "pvc://models/tinny.gguf"}
  gpu: {count: 0}
"""
_QUESTION = '{"model": "chat", "max_tokens": 12, "messages": [{"role": "user", "content": "Hello"}]}'
_ASK = f"curl -s localhost:{_PORT}/v1/chat/completions -d @hello.json | grep -o '\"completion_tokens\":[0-9]*'"


def main() -> None:
    """Record it and write the picture; the sandbox is taken down again."""
    (target,) = map(Path, sys.argv[1:])
    box = Sandbox.named(os.environ.get("LLMSERVICE_SANDBOX", "recording"))
    box.up()
    try:
        with TemporaryDirectory() as folder:
            story = _recorded(box, Shell(box, Path(folder)))
    finally:
        stop_operator(box)
        box.down()
    target.write_text(picture(story, "kubectl and llmservice"), "utf-8")
    print(f"wrote {target}")  # noqa: T201  (it is a command)


def _recorded(box: Sandbox, shell: Shell) -> list[Shown]:
    (shell.folder / "chat.yaml").write_text(_FILE, "utf-8")
    (shell.folder / "hello.json").write_text(_QUESTION, "utf-8")
    shell.run(f"kubectl apply --server-side -f {ROOT / 'crds'}")
    shell.until("kubectl get crd -o jsonpath='{.items[*].status.conditions[*].type}'", "Established")
    box.model_volume("default", "models")
    start_operator(box)
    return list(_story(shell))


def _story(shell: Shell) -> Iterator[Shown]:
    """A misspelt file, what is said of it, and the answer once it is corrected."""
    yield shell.run("cat chat.yaml")
    yield shell.run("kubectl apply -f chat.yaml")
    shell.until("kubectl get llm chat", "ModelNotFound")
    yield shell.run("llmservice status chat | head -n 2")
    yield shell.run("sed -i s/tinny/tiny/ chat.yaml && kubectl apply -f chat.yaml")
    yield shell.run("kubectl wait --for=condition=Ready --timeout=2m llm/chat")
    yield shell.run("kubectl get llm")
    with shell.beside(f"kubectl port-forward service/chat {_PORT}:80") as forward:
        yield forward
        shell.until(f"curl -s localhost:{_PORT}/health", "ok")
        yield shell.run(_ASK)


if __name__ == "__main__":
    main()
