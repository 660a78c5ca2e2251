"""The sandbox `engines`: its node gets the image of an engine when a test asks for it."""

from tests.cluster.conftest import box, cluster, kube, operator, quiet

__all__ = ["box", "cluster", "kube", "operator", "quiet"]
