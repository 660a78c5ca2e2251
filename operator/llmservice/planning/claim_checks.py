"""Whether the claim of a cache suits its service: its access modes, the place of its volume, its room.

Access modes: kubernetes.io/docs/concepts/storage/persistent-volumes, "Access Modes". ReadWriteOnce is for one node, not
for one pod.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.api.v1alpha1.resource import KIND
from llmservice.objects.references import controller_of
from llmservice.planning.cache_plan import CachePlan
from llmservice.planning.service_plan import ServicePlan
from llmservice.untrusted.texts import cut

_GB = 10**9
_MOST_NAMED = 3
_LONGEST_NAME = 63
_WRITERS = ("ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


@dataclass(frozen=True, slots=True)
class ClaimProblem:
    """What is wrong with a claim, as a sentence with the remedy; `refuses` where the replicas could not run with it."""

    reason: Reason
    message: str
    refuses: bool = True


def claim_problems(
    claim: Mapping[str, Any], plan: ServicePlan, volume: Mapping[str, Any] | None = None
) -> tuple[ClaimProblem, ...]:
    """Every problem of a PersistentVolumeClaim, those that refuse first; none for a plan without a cache.

    `claim` is its body, `volume` that of its PersistentVolume where it can be read. A field that is missing or of
    another form than Kubernetes gives it is no problem.
    """
    if plan.cache is None:
        return ()
    found = (
        *_unusable(claim, plan.cache),
        *_owned_by_another(claim, plan, plan.cache),
        *_access(claim, plan, plan.cache),
        *_place(volume, plan),
        *_room(claim, plan.cache),
    )
    return tuple(sorted(found, key=lambda problem: not problem.refuses))


def may_have_several(plan: ServicePlan) -> bool:
    """Whether more than one replica may run at once: as many are allowed, or a new one may come before its old one."""
    return _certainly_several(plan) or plan.rollout.by_free_devices


def _certainly_several(plan: ServicePlan) -> bool:
    return plan.replica_bound + plan.rollout.max_surge > 1


def is_for_one_node(claim: Mapping[str, Any]) -> bool:
    """Whether all pods with this claim must be on one node."""
    modes = _modes(claim)
    return bool(modes) and not {"ReadWriteMany", "ReadOnlyMany"} & set(modes)


def _unusable(claim: Mapping[str, Any], cache: CachePlan) -> Iterator[ClaimProblem]:
    access = Reason.CLAIM_ACCESS
    if (claim.get("metadata") or {}).get("deletionTimestamp"):
        yield ClaimProblem(access, f"the claim {cache.claim} is being deleted; wait until it is gone, or name another")
    if (claim.get("status") or {}).get("phase") == "Lost":
        yield ClaimProblem(
            access, f"the claim {cache.claim} has lost its volume; delete the claim, or restore its PersistentVolume"
        )
    if (claim.get("spec") or {}).get("volumeMode") == "Block":
        yield ClaimProblem(
            access, f"the claim {cache.claim} is a raw device (volumeMode: Block); name one with volumeMode: Filesystem"
        )


def _owned_by_another(claim: Mapping[str, Any], plan: ServicePlan, cache: CachePlan) -> Iterator[ClaimProblem]:
    """A claim that was made for another service and goes with it, with the models of all who share it."""
    owner = controller_of({"metadata": claim.get("metadata") or {}})
    if owner.get("kind") == KIND and owner.get("uid") != plan.owner.uid:
        name = cut(str(owner.get("name")), _LONGEST_NAME)
        yield ClaimProblem(
            Reason.CLAIM_ACCESS,
            f"the claim {cache.claim} belongs to LLMService {name} and goes with it; use one that no service owns",
            refuses=False,
        )


def _access(claim: Mapping[str, Any], plan: ServicePlan, cache: CachePlan) -> Iterator[ClaimProblem]:
    modes, several = _modes(claim), may_have_several(plan)
    if modes and not set(modes) & set(_WRITERS):
        yield ClaimProblem(
            Reason.CLAIM_ACCESS,
            f"the claim {cache.claim} can only be read ({_listed(modes)}), and the model is downloaded to it; use one "
            "with ReadWriteMany, or mount a claim that is filled already with spec.model.uri: pvc://",
        )
    elif modes == ("ReadWriteOncePod",) and several:
        yield ClaimProblem(
            Reason.CLAIM_ACCESS,
            f"the claim {cache.claim} is for one pod (ReadWriteOncePod), and {_replicas(plan)} may run at once; "
            f"use one with ReadWriteMany{_or_fewer(plan)}",
            refuses=_certainly_several(plan),
        )
    elif is_for_one_node(claim) and several:
        yield ClaimProblem(
            Reason.CLAIM_ACCESS,
            f"the claim {cache.claim} is for one node ({_listed(modes)}), and {_replicas(plan)} may run at once: "
            f"all must find room on that node; use one with ReadWriteMany{_or_fewer(plan)}",
            refuses=False,
        )


def _place(volume: Mapping[str, Any] | None, plan: ServicePlan) -> Iterator[ClaimProblem]:
    """A volume on one host: replicas elsewhere would wait for ever. A zone has room for several nodes."""
    hosts = tuple(_hosts(volume or {}))
    at_once = plan.replica_bound + (1 if plan.rollout.by_free_devices else plan.rollout.max_surge)
    if hosts and len(hosts) < at_once:
        yield ClaimProblem(
            Reason.CLAIM_ACCESS,
            f"the volume of the claim is on {_listed(hosts)} alone, and {_replicas(plan)} may run at once: "
            f"all must find room there; use a volume that more nodes reach{_or_fewer(plan)}",
            refuses=False,
        )


def _hosts(volume: Mapping[str, Any]) -> Iterator[str]:
    """The hosts that its node affinity allows for."""
    required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for expression in term.get("matchExpressions") or ():
            if expression.get("key") == "kubernetes.io/hostname" and expression.get("operator") == "In":
                yield from (str(value) for value in expression.get("values") or ())


def _room(claim: Mapping[str, Any], cache: CachePlan) -> Iterator[ClaimProblem]:
    """A shared file system often has more room than its claim says (EFS asks for any number)."""
    room = _bytes(claim)
    if 0 < room < cache.expected_bytes:
        yield ClaimProblem(
            Reason.CLAIM_TOO_SMALL,
            f"the claim {cache.claim} has {room / _GB:.1f} GB, and the model's files have "
            f"{cache.expected_bytes / _GB:.1f} GB; enlarge the claim, or name a larger one",
            refuses=is_for_one_node(claim),
        )


def _bytes(claim: Mapping[str, Any]) -> int:
    """What the claim has, else what it asks for; 0 where neither can be read."""
    given = (claim.get("status") or {}).get("capacity") or {}
    asked = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    try:
        return int(amount_of(str(given.get("storage") or asked.get("storage") or "0")))
    except ValueError:
        return 0


def _modes(claim: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(mode) for mode in (claim.get("spec") or {}).get("accessModes") or ())


def _replicas(plan: ServicePlan) -> str:
    if plan.replica_bound > 1:
        return f"{plan.replica_bound} replicas"
    return "an old and a new replica"


def _or_fewer(plan: ServicePlan) -> str:
    """The remedy besides another claim."""
    return ", or allow for one replica" if plan.replica_bound > 1 else ", or set spec.rollout.strategy: Replace"


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - _MOST_NAMED
    shown = ", ".join(cut(name, _LONGEST_NAME) for name in names[:_MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown
