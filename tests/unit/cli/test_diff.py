"""`llmservice diff`: what an apply would change, and what that means for the pods."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli.diff import command
from llmservice.cli.projection import projected
from llmservice.cli.render import render_resource
from llmservice.converging.rollout_record import RolloutRecord, recorded, template_digest
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import Json, SmallCluster


def as_stored(manifest: Json) -> Json:
    """A child as the API server has it: with defaults that nobody stated, owned, and as it was rolled out."""
    if manifest["kind"] == "Deployment":
        manifest = recorded(manifest, RolloutRecord(template_digest(manifest), "Surge", "2 of 4 L4 free"))
        manifest["spec"] = {"revisionHistoryLimit": 10, **manifest["spec"]}
        manifest["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst"
        for container in manifest["spec"]["template"]["spec"]["containers"]:
            container["terminationMessagePath"] = "/dev/termination-log"
    metadata = {**manifest["metadata"], "uid": f"of-{manifest['kind']}"}
    return {**manifest, "metadata": metadata}


def stored(body: Json) -> list[Json]:
    return [as_stored(json.loads(json.dumps(each))) for each in render_resource(body)]


def a_replica() -> Json:
    conditions = [{"type": "Ready", "status": "True"}]
    return {
        "kind": "Pod",
        "metadata": {"name": "chat-1", "namespace": "ml", "uid": "p", "labels": {"llmservice.dev/name": "chat"}},
        "status": {"phase": "Running", "conditions": conditions},
    }


@pytest.fixture
def cluster(small: SmallCluster) -> SmallCluster:
    body = an_llmservice(kind="LLMService", status={"startup": {"last": {"totalSeconds": 130}}})
    small.objects = [body, *stored(an_llmservice()), a_replica()]
    return small


def run(folder: Path, body: Json | None, *options: str) -> Result:
    if body is None:
        return CliRunner().invoke(command, ["chat", *options])
    (folder / "chat.yaml").write_text(yaml.safe_dump(body))
    return CliRunner().invoke(command, [str(folder / "chat.yaml"), *options])


def written(**changes: Any) -> Json:
    """As a person writes it: without what the API server adds."""
    return an_llmservice(metadata__uid=None, metadata__generation=None, metadata__namespace=None, **changes)


@pytest.mark.usefixtures("cluster")
def test_what_is_there_already_changes_nothing(tmp_path: Path) -> None:
    for body in (written(), None):
        result = run(tmp_path, body)
        assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1), result.stdout


@pytest.mark.usefixtures("cluster")
def test_a_change_of_the_template_restarts_pods_and_says_with_what_gap(tmp_path: Path) -> None:
    result = run(tmp_path, written(spec__maxModelLen=4096))
    added = [line for line in result.stdout.splitlines() if line.startswith("+ ")]
    assert result.exit_code == 1
    assert any("4096" in line for line in added)
    assert "dnsPolicy" not in result.stdout
    (found,) = json.loads(run(tmp_path, written(spec__maxModelLen=4096), "-o", "json").stdout)
    assert (found["restarts"], found["strategy"] in ("Surge", "Replace")) == (True, True)
    assert [child["kind"] for child in found["children"]] == ["Deployment"]


@pytest.mark.usefixtures("cluster")
def test_a_change_of_the_number_restarts_nothing(tmp_path: Path) -> None:
    (found,) = json.loads(run(tmp_path, written(spec__replicas=3), "-o", "json").stdout)
    assert (found["differs"], found["restarts"], "1 -> 3" in " ".join(found["message"])) == (True, False, True)
    kinds = [child["kind"] for child in found["children"]]
    assert kinds == ["PodDisruptionBudget", "Deployment"]


def test_what_another_client_changed_is_what_would_be_repaired(cluster: SmallCluster, tmp_path: Path) -> None:
    service = next(each for each in cluster.objects if each["kind"] == "Service")
    service["spec"]["ports"][0]["targetPort"] = 9999
    result = run(tmp_path, None)
    assert (result.exit_code, "9999" in result.stdout, "Deployment" in result.stdout) == (1, True, False)


def test_a_field_that_is_taken_back_is_shown_as_removed(cluster: SmallCluster, tmp_path: Path) -> None:
    body = an_llmservice(kind="LLMService", spec__pod={"nodeSelector": {"disk": "fast"}})
    cluster.objects = [body, *stored(body), a_replica()]
    lines = run(tmp_path, written()).stdout.splitlines()
    assert any(line.startswith("-") and "disk: fast" in line for line in lines)


def test_a_new_one_is_all_new(cluster: SmallCluster, tmp_path: Path) -> None:
    cluster.objects = []
    (found,) = json.loads(run(tmp_path, written(), "-o", "json").stdout)
    assert (found["isNew"], found["restarts"]) == (True, False)
    assert all(child["before"] is None for child in found["children"])


def test_an_object_of_somebody_else_is_not_taken_for_a_child(cluster: SmallCluster, tmp_path: Path) -> None:
    service = next(each for each in cluster.objects if each["kind"] == "Service")
    service["metadata"]["ownerReferences"] = []
    (found,) = json.loads(run(tmp_path, written(), "-o", "json").stdout)
    assert [(child["kind"], child["before"]) for child in found["children"]] == [("Service", None)]


@pytest.mark.usefixtures("cluster")
def test_a_file_that_is_refused_is_told_with_its_line(tmp_path: Path) -> None:
    result = run(tmp_path, written(spec__engine="vlm"))
    assert (result.exit_code, "chat.yaml:" in result.stderr, result.stdout) == (3, True, "")


def test_what_may_not_be_read_is_named(cluster: SmallCluster, tmp_path: Path) -> None:
    cluster.forbidden = {"deployments"}
    result = run(tmp_path, written())
    assert (result.exit_code, "deployments" in result.stderr) == (3, True)
    cluster.forbidden, cluster.objects = set(), []
    assert run(tmp_path, None).exit_code == 3


def test_the_settings_are_the_operators(cluster: SmallCluster, tmp_path: Path) -> None:
    env = [{"name": "LLMSERVICE_IMAGE_MIRRORS", "value": "ghcr.io=registry.example/ghcr"}, {"name": "OTHER"}]
    here = {"namespace": "llmservice-system"}
    lease = {"kind": "Lease", "metadata": {**here, "name": "llmservice-operator"}, "spec": {"holderIdentity": "op-1_x"}}
    cluster.objects += [
        lease,
        {"kind": "Pod", "metadata": {**here, "name": "op-1"}, "spec": {"containers": [{"env": env}]}},
    ]
    result = run(tmp_path, written())
    assert (result.exit_code, "registry.example/ghcr" in result.stdout, result.stderr) == (1, True, "")
    cluster.objects = [each for each in cluster.objects if each["kind"] != "Lease"]
    assert "--settings" in run(tmp_path, written()).stderr


def test_a_projection_keeps_what_is_stated_and_orders_keyed_lists() -> None:
    live = {"a": 1, "b": {"c": 2, "x": 3}, "env": [{"name": "y", "value": "2", "z": 0}, {"name": "x"}], "args": ["q"]}
    mask = {"b": {"c": 0}, "env": [{"name": "x"}, {"name": "y", "value": ""}], "args": ["p"], "paused": False}
    shown = projected(live, [mask])
    assert shown == {
        "b": {"c": 2},
        "env": [{"name": "x"}, {"name": "y", "value": "2"}],
        "args": ["q"],
        "paused": False,
    }
