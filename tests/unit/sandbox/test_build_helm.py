"""Helm is built as its releases are."""

from sandbox.build_helm import MODULE, arguments, required

GO_MOD = (MODULE / "go.mod").read_text()


def test_its_versions_are_read_from_the_module() -> None:
    assert required("require helm.sh/helm/v3 v3.19.5\n", "helm.sh/helm/v3") == "v3.19.5"
    assert required("require (\n\tk8s.io/client-go v0.34.4 // indirect\n)", "k8s.io/client-go") == "v0.34.4"


def test_it_takes_a_cluster_for_the_kubernetes_it_was_made_for() -> None:
    assert "chartutil.k8sVersionMinor=34" in arguments(GO_MOD)[-1]


def test_it_says_its_version() -> None:
    assert f"internal/version.version={required(GO_MOD, 'helm.sh/helm/v3')}" in arguments(GO_MOD)[-1]
