"""Reads what belongs to one LLMService, with the rights of the caller: its pods, its Jobs, its other children."""

from collections.abc import Iterable

from llmservice.cli.program import program
from llmservice.cluster.api_server import ApiServer
from llmservice.errors import NotFound
from llmservice.objects.names import NAME_LABEL
from llmservice.objects.references import Manifest, Ref, controller_uid, uid_of

_COMPONENT = "app.kubernetes.io/component"
_PART = "app.kubernetes.io/part-of=llmservice"
_JOB_LABEL = "batch.kubernetes.io/job-name"


async def service_named(server: ApiServer, namespace: str, name: str) -> Manifest:
    """The LLMService; raises NotFound with where to look."""
    service = await server.get(Ref("LLMService", namespace, name))
    if service is None:
        message = f"there is no LLMService {name} in namespace {namespace}; see: {program()} status -A"
        raise NotFound("NotFound", message)
    return service


async def replicas_of(server: ApiServer, service: Manifest) -> list[Manifest]:
    """The pods with the service's label."""
    return await labelled(server, service, "Pod")


async def jobs_of(server: ApiServer, service: Manifest, component: str = "") -> list[Manifest]:
    """The Jobs that the operator made for it: downloads, inspections, or one of both."""
    selector = f"{_PART},{_COMPONENT}={component}" if component else _PART
    jobs = await server.list("Job", service["metadata"]["namespace"], label_selector=selector)
    return [job for job in jobs if controller_uid(job) == uid_of(service)]


async def pods_of_jobs(server: ApiServer, service: Manifest, jobs: Iterable[Manifest]) -> list[Manifest]:
    """The pods of these Jobs."""
    uids = {uid_of(job) for job in jobs}
    if not uids:
        return []
    pods = await server.list("Pod", service["metadata"]["namespace"], label_selector=_JOB_LABEL)
    return [pod for pod in pods if controller_uid(pod) in uids]


async def labelled(server: ApiServer, service: Manifest, kind: str) -> list[Manifest]:
    """The objects of a kind with the service's label."""
    selector = f"{NAME_LABEL}={service['metadata']['name']}"
    return list(await server.list(kind, service["metadata"]["namespace"], label_selector=selector))
