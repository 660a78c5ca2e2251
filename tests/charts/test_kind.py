"""The tutorial on kind installs the chart with values that it has, and takes the image that was just built."""

import re
import shlex
from itertools import pairwise
from typing import Any

from tests.charts.rendering import CHART, ROOT, chart, deployment, operator_container

PAGE = (ROOT / "docs" / "tutorials" / "kind.md").read_text("utf-8")


def arguments(beginning: str) -> list[str]:
    """The words of the one command of the page that begins so."""
    (command,) = re.findall(rf"^\$ ({re.escape(beginning)}(?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
    return shlex.split(command.replace("\\\n", " "))


def given() -> dict[str, Any]:
    """The values behind `--set`, nested."""
    words = arguments("helm install")
    values: dict[str, Any] = {}
    for name, value in (word.split("=") for before, word in pairwise(words) if before == "--set"):
        folder, _, last = name.rpartition(".")
        target = values.setdefault(folder, {}) if folder else values
        target[last] = int(value) if value.isdigit() else value
    return values


def test_the_chart_takes_the_values_of_the_page() -> None:
    objects = chart(given())
    container = operator_container(objects)
    assert container["image"] == arguments("docker build")[3] == arguments("kind load")[3]
    assert container["imagePullPolicy"] == "Never"
    assert deployment(objects, "operator")["spec"]["replicas"] == 1
    assert str(CHART.relative_to(ROOT)) in arguments("helm install")
    assert (ROOT / "Dockerfile").exists()
