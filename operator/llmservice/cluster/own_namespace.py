"""The namespace the operator itself runs in."""

from pathlib import Path

from llmservice.cluster.transport.credentials import SERVICE_ACCOUNT
from llmservice.planning.network import OPERATOR_NAMESPACE

USUAL = OPERATOR_NAMESPACE
"""An operator that runs outside a cluster counts as if it were there."""


def own_namespace(folder: Path = SERVICE_ACCOUNT) -> str:
    """The namespace of the pod's service account, else the usual one."""
    try:
        return (folder / "namespace").read_text("utf-8").strip() or USUAL
    except OSError:
        return USUAL
