"""The kinds the operator reads and writes: one row each."""

from dataclasses import dataclass

from llmservice.api.group import GROUP, KIND, VERSION


@dataclass(frozen=True, slots=True)
class Kind:
    """Where the API server keeps objects of one kind. `api_version` is "v1" or "group/version".

    One that is `optional` comes with another project: a cluster may lack it, now or later.
    """

    api_version: str
    kind: str
    plural: str
    optional: bool = False

    def collection(self, namespace: str = "") -> str:
        """The URL path of all objects, or of those in one namespace."""
        root = f"/api/{self.api_version}" if "/" not in self.api_version else f"/apis/{self.api_version}"
        return f"{root}/namespaces/{namespace}/{self.plural}" if namespace else f"{root}/{self.plural}"

    def item(self, namespace: str, name: str, subresource: str = "") -> str:
        """The URL path of one namespaced object, or of its subresource."""
        path = f"{self.collection(namespace)}/{name}"
        return f"{path}/{subresource}" if subresource else path


KINDS = {
    kind.kind: kind
    for kind in (
        Kind(f"{GROUP}/{VERSION}", KIND, "llmservices"),
        Kind("apps/v1", "Deployment", "deployments"),
        Kind("apps/v1", "ReplicaSet", "replicasets"),
        Kind("v1", "Service", "services"),
        Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
        Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
        Kind("v1", "Pod", "pods"),
        Kind("batch/v1", "Job", "jobs"),
        Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
        Kind("v1", "Event", "events"),
        Kind("coordination.k8s.io/v1", "Lease", "leases"),
        Kind("v1", "ConfigMap", "configmaps"),
        Kind("v1", "Node", "nodes"),
        Kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
        Kind("gateway.networking.k8s.io/v1", "HTTPRoute", "httproutes", optional=True),
        Kind("inference.networking.k8s.io/v1", "InferencePool", "inferencepools", optional=True),
        Kind("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "leaderworkersets", optional=True),
    )
}
