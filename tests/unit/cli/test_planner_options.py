"""`render`, `plan` and `validate` answer as the operator of a cluster would, by the same planner."""

import json
from pathlib import Path

import click
import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli import plan, render, validate
from llmservice.cli.planner_options import planner_from
from llmservice.errors import UsageError
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.settings import settings_from
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import SmallCluster

VERBS = [plan.command, render.command, validate.command]
CATALOGUE = """
kind: ConfigMap
data:
  accelerators.yaml: |
    accelerators: [{name: L5, vendor: nvidia, memory_gib: 31.3}]
"""
ON_L5 = yaml.safe_dump(
    an_llmservice(spec__gpu={"type": "L5"}, spec__model__uri="hf://a/b-GGUF", spec__networkPolicy={"ingressFrom": []})
)
SETTINGS = """\
# of the cluster
LLMSERVICE_IMAGE_MIRRORS=ghcr.io=registry.example/ghcr

LLMSERVICE_PULL_SECRETS=pull
LLMSERVICE_HF_ENDPOINT = https://hub.example
LLMSERVICE_ENGINE_HTTPS_PROXY=http://proxy.example:3128
LLMSERVICE_TOLERATIONS=[{"key": "team", "operator": "Exists"}]
LLMSERVICE_MONITORING_NAMESPACE=monitoring
LLMSERVICE_PLATFORM=gke
"""


def run(verb: click.Command, *arguments: str, stdin: str = ON_L5, **environment: str) -> Result:
    return CliRunner().invoke(verb, ["-", *arguments], input=stdin, env=environment)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    catalogue, settings = tmp_path / "catalogue.yaml", tmp_path / "operator.env"
    catalogue.write_text(CATALOGUE)
    settings.write_text(SETTINGS)
    return [f"--catalogue={catalogue}", f"--settings={settings}"]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_clusters_own_rows_are_known_to_every_verb(verb: click.Command, files: list[str]) -> None:
    assert run(verb).exit_code == 1
    assert run(verb, *files).exit_code == 0


def test_render_uses_rows_and_settings(files: list[str]) -> None:
    text = run(render.command, *files).stdout
    deployment = next(body for body in yaml.safe_load_all(text) if body["kind"] == "Deployment")
    pod = deployment["spec"]["template"]["spec"]
    container = pod["containers"][0]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    assert container["image"].startswith("registry.example/ghcr/")
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert {"key": "team", "operator": "Exists"} in pod["tolerations"]
    assert environment["HF_ENDPOINT"] == "https://hub.example"
    assert environment["HTTPS_PROXY"] == "http://proxy.example:3128"
    assert "monitoring" in text


def test_plan_and_render_show_the_same_image(files: list[str]) -> None:
    planned = json.loads(run(plan.command, *files, "-o", "json").stdout)["services"][0]["image"]
    assert f"image: {planned}\n" in run(render.command, *files).stdout


def test_it_is_the_planner_an_operator_with_these_settings_has() -> None:
    variables = dict(line.split("=", 1) for line in SETTINGS.splitlines() if "=" in line)
    variables = {name.strip(): value for name, value in variables.items()}
    made = planner_from(environment={**variables, "HOME": "/"})
    assert made == CataloguePlanner(
        made.catalogue,
        registry_settings(settings_from(variables)),
        platform="gke",
        readers=MetricsReaders(monitoring="monitoring"),
    )


def test_the_environment_counts_and_the_file_wins(files: list[str]) -> None:
    environment = {
        "LLMSERVICE_IMAGE_MIRRORS": "ghcr.io=other.example",
        "LLMSERVICE_HF_ENDPOINT": "https://other.example",
    }
    assert "image: other.example/" in run(render.command, files[0], **environment).stdout
    text = run(render.command, *files, **environment).stdout
    assert "image: registry.example/ghcr/" in text
    assert "other.example" not in text


def test_the_option_wins_over_the_setting() -> None:
    environment = {"LLMSERVICE_PLATFORM": "gke"}
    assert planner_from(environment=environment).platform == "gke"
    assert planner_from(platform="eks-karpenter", environment=environment).platform == "eks-karpenter"


def test_the_status_in_a_file_is_no_answer() -> None:
    kept = {"plan": {"generation": 1, "facts": json.dumps({"registry": {"mirrors": {"ghcr.io": "old.example"}}})}}
    result = run(render.command, stdin=yaml.safe_dump({**an_llmservice(), "status": kept}))
    assert result.exit_code == 0
    assert "old.example" not in result.stdout


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("LLMSERVICE_PULL_SECRET=a", "operator.env:1: 'LLMSERVICE_PULL_SECRET' is not a setting"),
        ("LLMSERVICE_PULL_SECRET=a", "LLMSERVICE_PULL_SECRETS?"),
        ("\nHOME", "operator.env:2: "),
        ("LLMSERVICE_WORKERS=0", "LLMSERVICE_WORKERS"),
        ('LLMSERVICE_TOLERATIONS=[{"effect": "never"}]', "LLMSERVICE_TOLERATIONS[0]"),
        ("LLMSERVICE_CONTEXT=" + "x" * 70_000, "65536"),
        ("\udcff", "UTF-8"),
    ],
)
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_settings_that_are_none_are_wrong_usage(verb: click.Command, tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "operator.env"
    file.write_text(line, "utf-8", "surrogateescape")
    result = run(verb, f"--settings={file}")
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
@pytest.mark.parametrize("text", ["a: [", "kind: Secret", "kind: ConfigMap\ndata: {engines.yaml: 'vllm: 3'}"])
def test_a_catalogue_that_is_none_is_wrong_usage(verb: click.Command, tmp_path: Path, text: str) -> None:
    file = tmp_path / "catalogue.yaml"
    file.write_text(text)
    result = run(verb, f"--catalogue={file}")
    assert result.exit_code == 2
    assert "--catalogue" in result.stderr
    assert "catalogue.yaml" in result.stderr


def test_an_unknown_platform_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="eks-karpenter") as error:
        planner_from(platform="gkee", environment={})
    assert error.value.field == "--platform"


def an_operator(small: SmallCluster) -> None:
    """Lease, pod, catalogue and nodes of an operator."""
    here = {"namespace": "llmservice-system"}
    lines = (line.partition("=") for line in SETTINGS.splitlines() if "=" in line and "PLATFORM" not in line)
    env = [{"name": name.strip(), "value": value.strip()} for name, _, value in lines]
    lease = {"kind": "Lease", "metadata": {**here, "name": "llmservice-operator"}, "spec": {"holderIdentity": "op-1_x"}}
    pod = {"kind": "Pod", "metadata": {**here, "name": "op-1"}, "spec": {"containers": [{"env": env}]}}
    rows = {**yaml.safe_load(CATALOGUE), "metadata": {**here, "name": "llmservice-catalogue"}}
    node = {"kind": "Node", "metadata": {"name": "n", "labels": {"cloud.google.com/gke-accelerator": "nvidia-l4"}}}
    small.objects = [lease, pod, rows, node]


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_cluster_tells_what_its_operator_plans_with(verb: click.Command, small: SmallCluster) -> None:
    an_operator(small)
    assert run(verb, "--from-cluster").exit_code == 0
    small.objects = small.objects[:2]
    assert run(verb, "--from-cluster").exit_code == 1


def test_it_is_the_planner_of_that_operator(small: SmallCluster, files: list[str]) -> None:
    an_operator(small)
    from_cluster = run(render.command, "--from-cluster", "-q")
    from_files = run(render.command, *files, "--platform", "gke", "-q")
    assert (from_cluster.exit_code, from_cluster.stdout) == (0, from_files.stdout)


def test_without_nodes_the_setting_names_the_platform_and_without_an_operator_nothing_is_planned(
    small: SmallCluster,
) -> None:
    an_operator(small)
    small.forbidden = {"nodes"}
    assert run(plan.command, "--from-cluster").exit_code == 0
    for kind in ("Pod", "Lease"):
        small.objects = [each for each in small.objects if each["kind"] != kind]
        result = run(plan.command, "--from-cluster")
        assert (result.exit_code, "--settings" in result.stderr, result.stdout) == (1, True, "")


@pytest.mark.parametrize("options", [["--from-cluster", "--platform", "gke"], ["--context", "c"]])
def test_options_that_contradict_each_other_are_wrong_usage(options: list[str]) -> None:
    assert run(plan.command, *options).exit_code == 2
