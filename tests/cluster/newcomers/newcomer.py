"""Somebody at a shell, in a folder and a namespace of their own, who types what a page says."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.cluster.conftest import ROOT
from tests.cluster.kube import Kube
from tests.cluster.newcomers.page import Command, File, steps

_SECONDS = 400
_REPEATED_SECONDS = 90
_CHANGING = (
    (re.compile(r"\b\d+\.\d\d\.\d{3}\.\d{3}\b"), "TIME"),
    (re.compile(r"\b\d+(m|s|h)(\d+s)?\b"), "AGE"),
    (re.compile(r"\b[0-9a-f]{8,10}-[0-9a-z]{5}\b"), "POD"),
    (re.compile(r"\s+"), " "),
)
"""What is another each time: times in logs, ages, the ends of the names of pods, the width of columns."""


@dataclass
class Newcomer:
    """`kubectl` and `llmservice` are on the path, and know cluster and namespace as after `kubectl config`."""

    folder: Path
    environment: dict[str, str]
    others: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def follow(self, page: str, path: str, instead: Mapping[str, str] | None = None) -> list[str]:
        """Do what the page says; what each command printed. `instead` replaces what only exists elsewhere."""
        todo = steps(page, path)
        assert todo, f"{page} has no path {path}"
        written = "\n".join(line for step in todo for line in (step.text, *getattr(step, "shown", ())))
        assert [word for word in instead or {} if word not in written] == [], "the page no longer says this"
        return [said for step in todo if (said := self._do(step, instead or {})) is not None]

    def leave(self) -> None:
        """End what runs in the background."""
        for process in self.others:
            process.send_signal(signal.SIGINT)
            process.wait(20)

    def _do(self, step: Command | File, instead: Mapping[str, str]) -> str | None:
        text = replaced(step.text, instead)
        if isinstance(step, File):
            (self.folder / step.name).write_text(text)
            return None
        if step.background:
            self._begin(text)
            return None
        return self._read(text, replaced("\n".join(step.shown), instead), _REPEATED_SECONDS if step.repeated else 0)

    def _read(self, command: str, shown: str, seconds: float) -> str:
        """What it prints, which is what is shown, if anything is; at the latest after so long."""
        deadline = time.monotonic() + seconds
        while shown and normal(said := self._run(command)) != normal(shown):
            assert time.monotonic() < deadline, f"{command}\n{said}"
            time.sleep(1)
        return said if shown else self._run(command)

    def _run(self, command: str) -> str:
        done = subprocess.run(  # noqa: S603  (what our own page says)
            ["/bin/bash", "-ec", command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def _begin(self, command: str) -> None:
        """A port-forward: it is there when its port is."""
        self.others.append(
            subprocess.Popen(["/bin/bash", "-c", f"exec {command}"], cwd=self.folder, env=self.environment)  # noqa: S603
        )
        port = int(re.findall(r"(\d+):\d+", command)[0])
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError(f"nothing listens on port {port} after: {command}")


def at_a_shell(kube: Kube, folder: Path) -> Newcomer:
    """In the namespace of a test."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "kubectl").symlink_to(kube.kubectl_path)
    command = programs / "llmservice"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m llmservice "$@"\n')
    command.chmod(0o755)
    config = yaml.safe_load(kube.kubeconfig.read_text())
    for context in config["contexts"]:
        context["context"]["namespace"] = kube.namespace
    (folder / "kubeconfig").write_text(yaml.safe_dump(config))
    assert shutil.which("curl"), "install curl"
    return Newcomer(
        folder,
        {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(folder),
            "KUBECONFIG": str(folder / "kubeconfig"),
            "PYTHONPATH": str(ROOT / "operator"),
        },
    )


def normal(text: str) -> str:
    """A text without what changes from one time to the next."""
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text.strip()


def replaced(text: str, instead: Mapping[str, str]) -> str:
    """The text with other words in it."""
    for before, after in instead.items():
        text = text.replace(before, after)
    return text
