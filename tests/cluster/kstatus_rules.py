"""What a history of LLMServices, Deployments and pods must hold at every moment, so that kstatus never lies."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, groupby, pairwise
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.redaction import redacted_arguments
from llmservice.objects.names import INTENT_ANNOTATION, NAME_LABEL, OPERATOR, UPDATE_ANNOTATION
from tests.cluster.kstatus import KStatus, kstatus
from tests.cluster.kube import condition_of

Body = Mapping[str, Any]
_REASONS = frozenset(map(str, Reason))


@dataclass(frozen=True)
class Moment:
    """One state of one object. `deleted`: its last."""

    kind: str
    body: Body
    deleted: bool = False

    @property
    def revision(self) -> int:
        return int(self.body["metadata"]["resourceVersion"])

    @property
    def generation(self) -> int:
        return int(self.body["metadata"]["generation"])

    @property
    def address(self) -> tuple[str, str]:
        """Namespace, and the name of the LLMService it is or belongs to."""
        metadata = self.body["metadata"]
        return metadata["namespace"], (metadata.get("labels") or {}).get(NAME_LABEL, metadata["name"])


def problems(history: Sequence[Moment]) -> list[str]:
    """Every broken rule, each with the object and the revision; `history` is in the order of revisions."""
    around: dict[tuple[str, str], list[Moment]] = defaultdict(list)
    lives: dict[str, list[Moment]] = defaultdict(list)
    for moment in history:
        if moment.kind == "LLMService":
            lives[moment.body["metadata"]["uid"]].append(moment)
        else:
            around[moment.address].append(moment)
    return [
        f"{'/'.join(life[0].address)} at {revision}: {problem}"
        for life in lives.values()
        for revision, problem in _problems_of(life, around[life[0].address])
    ]


def _problems_of(life: Sequence[Moment], around: Sequence[Moment]) -> Iterator[tuple[int, str]]:
    """Of a life that began before the history did, nothing is known about the pods it had then."""
    first, is_whole = life[0], not _is_observed(life[0])
    if is_whole and kstatus(first.body) == KStatus.CURRENT:
        yield first.revision, "Current before the operator has looked at it"
    told = [moment for moment in life if _is_observed(moment) and not moment.deleted]
    for moment in told:
        yield from ((moment.revision, problem) for problem in _problems_at(moment))
        if is_whole and kstatus(moment.body) == KStatus.CURRENT and not _is_true_of(moment, life, around):
            yield moment.revision, f"Current, but the pods are not at generation {moment.generation}"
    for before, after in pairwise(told):
        yield from ((after.revision, problem) for problem in _problems_between(before, after))
    yield from _restless(told, around)


def _is_observed(moment: Moment) -> bool:
    """Whether the operator has written the status."""
    entries = moment.body["metadata"].get("managedFields") or ()
    return any(entry["manager"] == OPERATOR and entry.get("subresource") == "status" for entry in entries)


def _problems_at(moment: Moment) -> Iterator[str]:
    seen, verdict = moment.body["status"]["observedGeneration"], kstatus(moment.body)
    ready, reconciling, stalled = (_holds(moment, kind) for kind in ("Ready", "Reconciling", "Stalled"))
    back = condition_of(dict(moment.body), "Ready").get("reason") == Reason.ROLLED_BACK
    waits = condition_of(dict(moment.body), "Reconciling").get("reason") == Reason.ROLLOUT_BLOCKED
    failed = stalled and seen == moment.generation and _lives(moment)
    findings = {
        "observed a generation that is not there yet": seen > moment.generation,
        "Reconciling and Stalled at once": reconciling and stalled,
        "Ready and unfinished at once": ready and (reconciling or stalled) and not (waits or back),
        "rolled back, and not Stalled": back and not stalled,
        "without Ready, which kstatus takes for done": not condition_of(dict(moment.body), "Ready"),
        f"{verdict}, which does not fit Stalled": (verdict == KStatus.FAILED) != failed,
    }
    yield from (problem for problem, found in findings.items() if found)
    for condition in moment.body["status"]["conditions"]:
        if condition["observedGeneration"] != seen:
            yield f"{condition['type']} speaks of another generation than the status"
        if condition["reason"] not in _REASONS or not condition["message"]:
            yield f"{condition['type']} without a reason of the list, or without a message"


def _lives(moment: Moment) -> bool:
    return "deletionTimestamp" not in moment.body["metadata"]


def _holds(moment: Moment, kind: str) -> bool:
    return bool(condition_of(dict(moment.body), kind).get("status") == "True")


def _problems_between(before: Moment, after: Moment) -> Iterator[str]:
    if after.body["status"]["observedGeneration"] < before.body["status"]["observedGeneration"]:
        yield "the observed generation went back"
    for condition in after.body["status"]["conditions"]:
        earlier = condition_of(dict(before.body), condition["type"])
        moved = condition["lastTransitionTime"] != earlier.get("lastTransitionTime")
        if earlier.get("status") == condition["status"] and moved:
            yield f"{condition['type']} has a new transition time without a transition"


def _is_true_of(moment: Moment, life: Sequence[Moment], around: Sequence[Moment]) -> bool:
    """Whether, since the generation is there, the newest intent was rolled out and as many pods were ready as must be.

    Since then and not at this very moment: what breaks while the status is being written is told by the next one.
    """
    began = next(each.revision for each in life if each.generation == moment.generation)
    since = _states(around, began, moment.revision)
    deployments = [each.body for each in since if each.kind == "Deployment"]
    if condition_of(dict(moment.body), "Ready").get("reason") not in {Reason.READY, Reason.CONTESTED}:
        return any(_is_empty(body) for body in deployments)
    floor = _floor(moment.body["spec"])
    intent = _intent(deployments[-1]) if deployments else ""
    rolled_out = any(_intent(body) == intent and _is_rolled_out(body, floor) for body in deployments)
    ready = {each.body["metadata"]["uid"] for each in since if each.kind == "Pod" and _serves(each.body, moment.body)}
    return rolled_out and len(ready) >= floor


def _states(around: Iterable[Moment], began: int, until: int) -> list[Moment]:
    """What stood at `began` and all that came after it, up to `until`."""
    standing: dict[str, Moment] = {}
    since = []
    for moment in around:
        if moment.revision <= began:
            standing[moment.body["metadata"]["uid"]] = moment
        elif moment.revision <= until:
            since.append(moment)
    return [*(moment for moment in standing.values() if not moment.deleted), *since]


def _floor(spec: Body) -> int:
    return int(spec.get("replicas", (spec.get("autoscaling") or {}).get("minReplicas", 1)))


def _intent(deployment: Body) -> str:
    return str((deployment["metadata"].get("annotations") or {}).get(INTENT_ANNOTATION, ""))


def _is_seen(deployment: Body) -> bool:
    return bool(deployment["status"].get("observedGeneration", 0) >= deployment["metadata"]["generation"])


def _is_rolled_out(deployment: Body, floor: int) -> bool:
    status = deployment["status"]
    total = status.get("replicas", 0)
    return _is_seen(deployment) and bool(status.get("updatedReplicas", 0) == total >= floor)


def _is_empty(deployment: Body) -> bool:
    return _is_seen(deployment) and not deployment["spec"]["replicas"] and not deployment["status"].get("replicas", 0)


def _serves(pod: Body, service: Body) -> bool:
    """Whether the pod is one of the Deployment's, is ready and runs what the status says."""
    container, plan = pod["spec"]["containers"][0], service["status"]["plan"]
    same = container["image"] == plan["image"] and redacted_arguments(container.get("args") or ()) == plan.get(
        "args", []
    )
    return same and _is_replica(pod, service) and condition_of(dict(pod), "Ready").get("status") == "True"


def _is_replica(pod: Body, service: Body) -> bool:
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(
        owner["kind"] == "ReplicaSet" and owner["name"].rpartition("-")[0] == service["metadata"]["name"]
        for owner in owners
    )


def _restless(told: Sequence[Moment], around: Sequence[Moment]) -> Iterator[tuple[int, str]]:
    """After it was Current, the operator has nothing more to change, unless it is asked to."""
    deployments = [moment for moment in around if moment.kind == "Deployment"]
    for _, same in groupby(told, _asked):
        for before, after in pairwise(_answers(list(same))):
            between = _states(deployments, before.revision, after.revision)
            if kstatus(before.body) == KStatus.CURRENT and len({_intent(each.body) for each in between}) > 1:
                yield (
                    after.revision,
                    f"the Deployment's intent changed after generation {before.generation} was Current",
                )


def _answers(told: Sequence[Moment]) -> Iterator[Moment]:
    """Without the first status, which answers what was asked before."""
    stale = told[0].body["status"]
    return dropwhile(lambda moment: bool(moment.body["status"] == stale), told)


def _asked(moment: Moment) -> tuple[int, str]:
    """What makes the operator decide anew."""
    return moment.generation, (moment.body["metadata"].get("annotations") or {}).get(UPDATE_ANNOTATION, "")
