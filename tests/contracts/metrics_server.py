"""A real Prometheus on loopback (Debian package `prometheus`) that scrapes what it is told, twice a second or more."""

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port


def static_targets(labels_of: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    """A scrape configuration: address → labels."""
    return {"static_configs": [{"targets": [address], "labels": dict(labels)} for address, labels in labels_of.items()]}


@contextmanager
def metrics_server(
    folder: Path, jobs: Sequence[Mapping[str, Any]], rules: Sequence[Mapping[str, Any]] = ()
) -> Iterator[str]:
    """The address of a server with these scrape configurations, as long as the block runs. JSON is YAML.

    `rules` are groups of recording rules and alerts, evaluated as often as is scraped.
    """
    often = {"scrape_interval": "400ms", "scrape_timeout": "400ms", "evaluation_interval": "400ms"}
    (folder / "rules.yml").write_text(json.dumps({"groups": list(rules)}))
    configuration = {
        "global": often,
        "rule_files": ["rules.yml"],
        "scrape_configs": [{"job_name": "engines", **job} for job in jobs],
    }
    (folder / "prometheus.yml").write_text(json.dumps(configuration))
    address = f"127.0.0.1:{free_port()}"
    program = shutil.which("prometheus")
    assert program, "there is no prometheus: python -m sandbox preflight --install"
    command = [
        program,
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:  # noqa: S603
        try:
            _wait_ready(f"http://{address}", folder / "log")
            yield f"http://{address}"
        finally:
            process.terminate()


def _wait_ready(url: str, log: Path) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{url}/-/ready", timeout=1) as answer:  # noqa: S310
                if answer.status == 200:
                    return
        except (OSError, urllib.error.URLError):
            time.sleep(0.1)
    raise AssertionError(f"Prometheus did not become ready:\n{log.read_text()}")
