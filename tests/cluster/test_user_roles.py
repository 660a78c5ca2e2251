"""Who may do what with LLMServices: the cluster's own roles view, edit and admin, as a tenant who has one of them."""

import pytest

from tests.cluster.conftest import ROOT
from tests.cluster.kube import Kube

pytestmark = pytest.mark.cluster

READ, WRITE = ("get", "list", "watch"), ("create", "update", "patch", "delete")
MAY = {
    "view": {*((verb, "llmservices") for verb in READ), ("get", "llmservices/status"), ("get", "llmservices/scale")},
    "edit": {*((verb, "llmservices") for verb in WRITE), ("patch", "llmservices/scale")},
    "admin": {("deletecollection", "llmservices")},
}
"""What each role adds to the one before."""
NOBODY = {(verb, "llmservices/status") for verb in ("update", "patch")}
ALL = {*MAY["view"], *MAY["edit"], *MAY["admin"], *NOBODY}


@pytest.mark.parametrize("role", MAY)
def test_a_role_may_what_it_says_and_no_more(quiet: Kube, role: str) -> None:
    quiet.kubectl("apply", "--server-side", "-f", str(ROOT / "manifests/base/user-roles.yaml"))
    quiet.kubectl("create", "rolebinding", "tenant", f"--clusterrole={role}", "--user=tenant")
    rank = list(MAY).index(role)
    expected = {right for each in list(MAY)[: rank + 1] for right in MAY[each]}
    quiet.wait(lambda: expected == rights(quiet) or None, lambda: sorted(rights(quiet) ^ expected))


def rights(kube: Kube) -> set[tuple[str, str]]:
    """What the tenant may do, of all that there is to do."""
    return {right for right in ALL if is_allowed(kube, *right)}


def is_allowed(kube: Kube, verb: str, resource: str) -> bool:
    """What the API server says to somebody who asks for the tenant."""
    name, _, subresource = resource.partition("/")
    attributes = {"namespace": kube.namespace, "verb": verb, "group": "llmservice.dev", "resource": name}
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": "tenant", "resourceAttributes": {**attributes, "subresource": subresource}},
    }
    answer = kube.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])
