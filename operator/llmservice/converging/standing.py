"""What stands while the newest revision is not written yet: the replicas, and the children made from the same source.

The newest revision may wait for devices, or for its model to be downloaded, for hours. Until then what somebody changes
or deletes is repaired by what the replicas are made from; the newest fields that change no pod hold for them too.
"""

from dataclasses import dataclass

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.converging.replicas import Replicas, stating
from llmservice.converging.revisions import InForce, as_it_served
from llmservice.converging.rollback import MakePlan
from llmservice.converging.rollout_record import record_of, recorded, replacing
from llmservice.converging.template_source import digest_of_source, made_from, with_sources
from llmservice.converging.updates import made_by_newer
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import workload_in
from llmservice.planning.service_plan import ServicePlan
from llmservice.rendering.manifests import render


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A revision that replicas are made from: the resource as it was then, its plan, and the text of its source."""

    service: LLMService
    plan: ServicePlan
    source: str

    @property
    def digest(self) -> str:
        """Identifies the source."""
        return digest_of_source(self.source)


def standing(force: InForce, source: str, make_plan: MakePlan) -> Standing | None:
    """The revision made from this source; None where it cannot be made as it was.

    Its files were never downloaded, a newer operator rendered it, or it does not go with the newest fields.
    """
    body = as_it_served(force.newest, source)
    try:
        service = LLMService.parse(body) if body is not None else None
        plan = make_plan(service) if service is not None else None
    except InvalidSpec:
        return None
    if service is None or plan is None or made_by_newer(plan) or (plan.cache is not None and not plan.cache.weights):
        return None
    return Standing(service=service, plan=plan, source=source)


def children_of(revision: Standing, live: Manifest | None, served: str, replicas: Replicas) -> list[Manifest]:
    """The children of a revision, rolled out in the way that was chosen for it.

    `live` is the Deployment as it stands, `served` the digest of what served last.
    """
    manifests = with_sources(render(revision.plan, replicas=None), revision.source, live, served)
    wanted = stating(manifests, replicas)
    record = record_of(live) if live is not None and made_from(live) == revision.source else None
    return wanted if record is None else replacing(recorded(workload_in(wanted), record), wanted)
