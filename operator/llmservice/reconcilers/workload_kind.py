"""Whether the workload of a plan can be made: the cluster has its kind, and none of the other kind is in its place."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import sentence
from llmservice.converging.observed import Observed
from llmservice.objects.references import Manifest, is_being_deleted
from llmservice.objects.workloads import is_workload
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.blocked import BLOCKED_AGAIN_SECONDS, Blocked


def check_workload(plan: ServicePlan, observed: Observed) -> None:
    """Raises `Blocked` with the way out.

    The workload before is left to people: to delete it ends every replica, and the operator has no right to.
    """
    if why := observed.absent.get(plan.workload_kind):
        raise Blocked(Reason.GROUPS_NOT_AVAILABLE, _absent(plan, why), BLOCKED_AGAIN_SECONDS)
    for child in observed.children.values():
        if is_workload(child) and child["kind"] != plan.workload_kind:
            passes = is_being_deleted(child)
            raise Blocked(Reason.OTHER_WORKLOAD, _other(plan, child), BLOCKED_AGAIN_SECONDS, passes=passes)


def _absent(plan: ServicePlan, why: str) -> str:
    return (
        f"spec.gpu.nodes: {plan.nodes} needs LeaderWorkerSets, which the operator cannot use here ({sentence(why)}); "
        "install them (lws.sigs.k8s.io) and let the operator use them (Helm: rbac.severalNodes), or remove "
        "spec.gpu.nodes"
    )


def _other(plan: ServicePlan, child: Manifest) -> str:
    kind, name = child["kind"], child["metadata"]["name"]
    return (
        f"spec.gpu.nodes: {plan.nodes} makes replicas by a {plan.workload_kind}, and those that run are of {kind} "
        f"{name}; delete it (kubectl delete {kind.lower()} {name}), which ends them, or set spec.gpu.nodes as it was"
    )
