"""The examples for Flux and Argo CD: what they name is there, and what they must not prune they keep."""

from typing import Any

import pytest
import yaml

from llmservice import __version__
from llmservice.api.v1alpha1.resource import GROUP, KIND, PLURAL, VERSION
from tests.gitops.lua import HEALTH, ROOT

Body = dict[str, Any]
CRD = f"{PLURAL}.{GROUP}"
USER_ROLES = list(yaml.safe_load_all((ROOT / "manifests" / "base" / "user-roles.yaml").read_text()))


def objects(path: str) -> list[Body]:
    return list(yaml.safe_load_all((ROOT / "gitops" / path).read_text()))


@pytest.mark.parametrize("tool", ["flux", "argocd"])
def test_each_object_has_a_place_and_no_two_share_one(tool: str) -> None:
    bodies = [*objects(f"{tool}/operator.yaml"), *objects(f"{tool}/models.yaml")]
    places = [(body["kind"], body["metadata"].get("namespace"), body["metadata"]["name"]) for body in bodies]
    assert {kind for kind, namespace, _ in places if namespace is None} <= {"Namespace"}
    assert len(set(places)) == len(places)


def test_flux_finds_the_folder_its_source_and_what_it_depends_on() -> None:
    bodies = [*objects("flux/operator.yaml"), *objects("flux/models.yaml")]
    names = {kind: {body["metadata"]["name"] for body in bodies if body["kind"] == kind} for kind in kinds(bodies)}
    operator, models = (body["spec"] for body in bodies if body["kind"] == "Kustomization")
    assert (ROOT / operator["path"] / "kustomization.yaml").is_file()
    assert {spec["sourceRef"]["name"] for spec in (operator, models)} <= names["GitRepository"]
    assert {each["name"] for each in models["dependsOn"]} <= names["Kustomization"]


def kinds(bodies: list[Body]) -> set[str]:
    return {body["kind"] for body in bodies}


def test_flux_checks_the_health_of_our_kind_where_it_puts_it() -> None:
    (spec,) = (body["spec"] for body in objects("flux/models.yaml") if body["kind"] == "Kustomization")
    made = [body["metadata"]["name"] for body in objects("flux/models.yaml") if body["kind"] == "Namespace"]
    assert made == [spec["targetNamespace"]]
    for check in spec["healthChecks"]:
        assert (check["apiVersion"], check["kind"]) == (f"{GROUP}/{VERSION}", KIND)
        assert check["namespace"] == spec["targetNamespace"]


def test_argo_cd_finds_the_folder() -> None:
    source = objects("argocd/operator.yaml")[0]["spec"]["source"]
    assert (ROOT / source["path"] / "kustomization.yaml").is_file()


@pytest.mark.parametrize(
    ("patches", "annotation"),
    [
        (objects("flux/operator.yaml")[1]["spec"]["patches"], {"kustomize.toolkit.fluxcd.io/prune": "disabled"}),
        (
            objects("argocd/operator.yaml")[0]["spec"]["source"]["kustomize"]["patches"],
            {"argocd.argoproj.io/sync-options": "Prune=false,Delete=false"},
        ),
    ],
    ids=["flux", "argocd"],
)
def test_the_crd_and_the_roles_of_users_survive_the_operator(patches: list[Body], annotation: Body) -> None:
    patch = yaml.safe_load(patches[0]["patch"])
    assert (patch["kind"], patch["metadata"]["name"]) == ("CustomResourceDefinition", CRD)
    assert patch["metadata"]["annotations"] == annotation
    (roles,) = patches[1:]
    assert roles["target"]["kind"] == "ClusterRole"
    label, _, value = roles["target"]["labelSelector"].partition("=")
    kept = {role["metadata"]["name"] for role in USER_ROLES if role["metadata"].get("labels", {}).get(label) == value}
    assert kept == {role["metadata"]["name"] for role in USER_ROLES if PLURAL in str(role["rules"])}
    assert [change["value"] for change in yaml.safe_load(roles["patch"])] == [annotation]


def test_both_install_the_release_that_is_here() -> None:
    tags = (
        objects("flux/operator.yaml")[0]["spec"]["ref"]["tag"],
        objects("argocd/operator.yaml")[0]["spec"]["source"]["targetRevision"],
    )
    assert set(tags) == {f"v{__version__}"}


def test_the_setting_for_argo_cd_holds_the_very_script() -> None:
    (patch,) = objects("argocd/argocd-cm.yaml")
    assert patch == {"data": {f"resource.customizations.health.{GROUP}_{KIND}": HEALTH}}
