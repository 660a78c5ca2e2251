"""`llmservice ui`: wrong usage, and a page that ends when it is told to."""

import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from llmservice.cli.ui import command
from tests.ui.fake_cluster import FakeCluster, a_service, fake_cluster
from tests.ui.page_process import environment


def test_a_namespace_and_all_of_them_is_wrong_usage() -> None:
    result = CliRunner().invoke(command, ["-n", "ml", "-A"])
    assert result.exit_code == 2
    assert "--all-namespaces" in result.output


def test_a_port_that_is_in_use_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake_cluster(tmp_path, FakeCluster()) as kubeconfig, socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig))
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(command, ["--no-browser", "--port", port])
    assert result.exit_code == 2
    assert port in result.output


def test_it_serves_until_ctrl_c(tmp_path: Path) -> None:
    with fake_cluster(tmp_path, FakeCluster(services=[a_service("chat")])) as kubeconfig:
        run = [sys.executable, "-m", "llmservice", "ui", "--no-browser"]
        with subprocess.Popen(run, stdout=subprocess.PIPE, text=True, env=environment(kubeconfig)) as process:  # noqa: S603
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            with urllib.request.urlopen(f"{address}api/services", timeout=10) as answer:  # noqa: S310
                assert b'"chat"' in answer.read()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=20) == 0
