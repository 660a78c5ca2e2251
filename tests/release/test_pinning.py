"""Chart and install.yaml of a release, and what a fork or the next version changes."""

import re

import pytest
import yaml

from llmservice import __version__
from tools.release.chart import pinned_install, pinned_table, pinned_values
from tools.release.names import ROOT, names
from tools.release.provenance import Source
from tools.release.renaming import versioned

DIGEST = f"sha256:{'a' * 64}"
SOURCE = Source(version=__version__, commit="c" * 40, epoch=0, names=names())
CHART = ROOT / "charts/llmservice"


def test_the_chart_pins_the_image_and_its_table_says_so() -> None:
    values = yaml.safe_load(pinned_values((CHART / "values.yaml").read_text("utf-8"), DIGEST))
    assert values["image"]["digest"] == DIGEST
    assert f'`"{DIGEST}"`' in pinned_table((CHART / "README.md").read_text("utf-8"), DIGEST)


def test_a_chart_without_the_value_is_no_release() -> None:
    with pytest.raises(ValueError, match="0 times"):
        pinned_values("image:\n  tag: x\n", DIGEST)


def test_install_yaml_pins_the_image_and_that_of_the_jobs() -> None:
    text = (ROOT / "manifests/install.yaml").read_text("utf-8")
    image = names().image("operator", __version__)
    pinned = pinned_install(text, SOURCE, DIGEST)
    assert pinned.count(f"{image}@{DIGEST}") == text.count(image) == 4
    assert not re.search(rf"{re.escape(image)}(?!@)", pinned)


def test_an_install_yaml_of_another_version_is_no_release() -> None:
    other = Source(version="9.9.9", commit="c" * 40, epoch=0, names=names())
    with pytest.raises(ValueError, match=r"9\.9\.9"):
        pinned_install((ROOT / "manifests/install.yaml").read_text("utf-8"), other, DIGEST)


@pytest.mark.parametrize(
    ("file", "least"),
    [
        ("operator/llmservice/__init__.py", 1),
        ("charts/llmservice/Chart.yaml", 2),
        ("Dockerfile", 1),
        ("images/bench/Dockerfile", 2),
        ("manifests/install.yaml", 4),
        ("manifests/base/deployment.yaml", 3),
        ("manifests/activator/deployment.yaml", 1),
        ("gitops/flux/operator.yaml", 1),
        ("gitops/argocd/operator.yaml", 1),
    ],
)
def test_the_next_version_is_said_wherever_this_one_is(file: str, least: int) -> None:
    text = (ROOT / file).read_text("utf-8")
    changed = versioned(file, text, __version__, "8.7.6")
    assert changed.count("8.7.6") == least
    assert versioned(file, changed, "8.7.6", __version__) == text


def test_somebody_elses_version_is_left_alone() -> None:
    text = "go.example/log v0.1.0\nregistry.example/team/other:0.1.0\nregistry.example/operator:0.1.0-rc.1\n"
    assert versioned("docs/x.md", text, "0.1.0", "0.2.0") == text
