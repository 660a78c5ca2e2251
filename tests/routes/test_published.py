"""What is rendered, held against the CRDs as their projects published them: old versions and new ones."""

import pytest
import yaml

from tests.cluster.kube import Body, Kube
from tests.golden.cases import CASES
from tests.routes import crds

pytestmark = [pytest.mark.cluster, pytest.mark.routes]

_KINDS = ("HTTPRoute", "InferencePool")


def rendered(kind: str) -> list[Body]:
    """Every one of this kind in the golden manifests."""
    bodies = [body for case in CASES for body in yaml.safe_load_all(case.manifests.read_text("utf-8"))]
    return [body for body in bodies if body["kind"] == kind]


def test_both_kinds_are_among_the_golden_manifests() -> None:
    assert all(map(rendered, _KINDS))


@pytest.mark.parametrize("version", crds.GATEWAY_API)
def test_every_route_is_taken_as_it_is(quiet: Kube, version: str) -> None:
    crds.install_gateway_api(quiet, version)
    for route in rendered("HTTPRoute"):
        assert taken(quiet, route)["spec"] == route["spec"]


@pytest.mark.parametrize("version", crds.INFERENCE_EXTENSION)
def test_every_pool_is_taken_as_it_is(quiet: Kube, version: str) -> None:
    """Newer versions add a default that the operator leaves alone."""
    crds.install_inference_extension(quiet, version)
    for pool in rendered("InferencePool"):
        assert pool["spec"].items() <= taken(quiet, pool)["spec"].items()


def taken(kube: Kube, body: Body) -> Body:
    """The object as the API server would store it; it refuses fields that it does not know."""
    metadata = {**body["metadata"], "namespace": kube.namespace}
    return kube.create({**body, "metadata": metadata}, dry_run=True)
