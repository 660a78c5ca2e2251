"""The chart as users meet it: installed, upgraded, removed; by an administrator, and by the owner of one namespace."""

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.cluster.conftest import RESTRICTED
from tests.cluster.helm import Helm
from tests.cluster.kube import Body, Kube, Rejected
from tests.cluster.operator_image import IMAGE, ROOT, operator_archive
from tests.cluster.services import a_tiny_service, ask

pytestmark = [pytest.mark.cluster, pytest.mark.sandbox]

SYSTEM = "llmservice-system"
EXAMPLE = ROOT / "manifests" / "examples" / "llamacpp-cpu.yaml"
OWNER = "owner-of-team"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Kube]:
    """A fresh cluster with the operator's image and nothing of the operator."""
    box = Sandbox.named("charts")
    box.down()
    box.up()
    try:
        assert box.load_image(operator_archive()) == [IMAGE]
        kube = Kube.connect(box.kubeconfig, box.kubectl)
        for name in (SYSTEM, "models", "team", "elsewhere"):
            body: Body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": RESTRICTED}}
            kube.request("POST", "/api/v1/namespaces", body)
        for name in ("models", "team"):
            box.model_volume(name, "models")
        yield kube
    finally:
        box.down()


@pytest.fixture(scope="module")
def helm(cluster: Kube) -> Helm:
    """Helm with an administrator's rights."""
    return Helm(cluster.kubeconfig)


@pytest.fixture(scope="module")
def installed(cluster: Kube, helm: Helm) -> Kube:
    """The chart as it is without values; a client in a namespace with an example that serves."""
    helm.install("llmservice", SYSTEM, {})
    models = cluster.within("models")
    models.kubectl("apply", "-f", str(EXAMPLE))
    models.wait_ready("chat")
    return models


def engines(kube: Kube) -> list[tuple[str, int]]:
    """Each engine pod with its restarts."""
    pods = kube.list("Pod", "app.kubernetes.io/component=inference")
    return [(pod["metadata"]["uid"], pod["status"]["containerStatuses"][0]["restartCount"]) for pod in pods]


def test_the_operator_runs_under_its_own_service_account(installed: Kube) -> None:
    pods = installed.within(SYSTEM).list("Pod", "app.kubernetes.io/component=operator")
    assert [pod["spec"]["serviceAccountName"] for pod in pods] == ["llmservice-operator"] * 2
    assert all(pod["status"]["containerStatuses"][0]["ready"] for pod in pods)


def test_the_activators_run_under_one_of_their_own(installed: Kube) -> None:
    pods = installed.within(SYSTEM).list("Pod", "app.kubernetes.io/component=activator")
    assert [pod["spec"]["serviceAccountName"] for pod in pods] == ["llmservice-activator"] * 2
    assert all(pod["status"]["containerStatuses"][0]["ready"] for pod in pods)


@pytest.mark.usefixtures("installed")
def test_helm_test_says_what_it_found(helm: Helm) -> None:
    told = helm.test("llmservice", SYSTEM)
    assert "Succeeded" in told
    assert " leads" in told
    assert "wrong" not in told


def test_an_example_answers(installed: Kube) -> None:
    assert ask(installed)["usage"]["completion_tokens"] > 0


def test_a_second_release_over_every_namespace_is_refused_and_told_whose_they_are(installed: Kube, helm: Helm) -> None:
    values = {"instanceName": "second", "crds": {"enabled": False}}
    with pytest.raises(Rejected, match="exists and cannot be imported") as rejected:
        helm.install("second", "elsewhere", values)
    assert 'ClusterRole "llmservice-operator' in str(rejected.value)
    assert f'current value is "{SYSTEM}"' in str(rejected.value)
    assert installed.within("elsewhere").list("Pod") == []


def test_an_upgrade_replaces_the_operator_and_restarts_no_engine(installed: Kube, helm: Helm) -> None:
    before = engines(installed)
    notes = helm.upgrade("llmservice", SYSTEM, {"logLevel": "debug"})
    assert "LLMService 0.1.0 serves every namespace" in notes
    installed.create(a_tiny_service("after-upgrade", suspend=True))
    installed.wait_reason("after-upgrade", "Suspended")
    assert engines(installed) == before != []


def test_when_it_is_uninstalled_services_serve_on(installed: Kube, helm: Helm) -> None:
    before = engines(installed)
    helm.uninstall("llmservice", SYSTEM)
    assert installed.within(SYSTEM).list("Deployment") == []
    assert ask(installed)["usage"]["completion_tokens"] > 0
    assert engines(installed) == before != []


def test_the_owner_of_a_namespace_installs_it_without_rights_on_the_cluster(cluster: Kube) -> None:
    """After the administrator's release, whose CRD has stayed."""
    team = cluster.within("team")
    team.kubectl("create", "rolebinding", OWNER, "--clusterrole=cluster-admin", f"--user={OWNER}")
    values = {"scope": "namespaced", "crds": {"enabled": False}, "admission": {"operator": {"enabled": False}}}
    Helm(cluster.kubeconfig, user=OWNER).install("ours", "team", values)
    team.kubectl("apply", "-f", str(EXAMPLE), f"--as={OWNER}")
    team.wait_ready("chat")
    assert ask(team)["usage"]["completion_tokens"] > 0


def test_there_too_a_service_sleeps_and_is_woken_by_a_request(cluster: Kube) -> None:
    """With the rights of one namespace, and activators of its own."""
    team = cluster.within("team")
    team.create(a_tiny_service("sleepy", autoscaling={"minReplicas": 0, "maxReplicas": 1}))
    team.wait_ready("sleepy")
    team.kubectl("scale", "deployment", "sleepy", "--replicas=0")

    def leads_to_activators() -> bool:
        found = team.get("EndpointSlice", "sleepy-activator") or {}
        return len(found.get("endpoints") or ()) == 2 and not team.list("Pod", "llmservice.dev/name=sleepy")

    team.wait(leads_to_activators, lambda: team.list("EndpointSlice"))
    assert ask(team, "sleepy", seconds=90)["usage"]["completion_tokens"] > 0


def test_an_operator_of_one_namespace_leaves_others_alone(cluster: Kube) -> None:
    """Its own namespace is asked later, so it has had its time."""
    cluster.within("elsewhere").create(a_tiny_service("chat", suspend=True))
    cluster.within("team").create(a_tiny_service("later", suspend=True))
    cluster.within("team").wait_reason("later", "Suspended")
    body = cluster.within("elsewhere").get("LLMService", "chat")
    assert body is not None
    assert body["status"] == {"observedGeneration": -1}


def test_a_second_release_over_one_namespace_is_refused_and_told_whose_it_is(cluster: Kube, helm: Helm) -> None:
    values = {"scope": "namespaced", "namespaces": ["team"], "crds": {"enabled": False}}
    with pytest.raises(Rejected, match="exists and cannot be imported") as rejected:
        helm.install("second", "elsewhere", values)
    assert 'Role "llmservice-operator' in str(rejected.value)
    assert '"meta.helm.sh/release-name" must equal "second": current value is "ours"' in str(rejected.value)
    assert cluster.within("elsewhere").list("Pod") == []
