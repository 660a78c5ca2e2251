"""Facts by a Job: asked once, in turns, in bounded time; whatever the Job or its message is, no pass fails."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.errors import Conflict, Refused, Terminating, Unavailable
from llmservice.models.inspection_answer import answer_of, answer_text
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts
from llmservice.objects.references import Manifest, Ref, ref_of
from llmservice.planning.facts import RegistrySettings
from llmservice.reconcilers.inspections import FAILED_SECONDS, Inspected, Inspections, inspection_settings
from llmservice.rendering.inspection_job import InspectionSettings, inspection_job
from llmservice.settings import Settings
from tests.builders import an_llmservice
from tests.in_memory_cluster.cluster import InMemoryCluster
from tests.unit.reconcilers.jobs_of_a_cluster import ended, fail, jobs_in, run, tell, the_job, waiting

FACTS = ModelFacts(architecture="LlamaForCausalLM", layers=32, longest_context=8192)
SETTINGS = InspectionSettings(image="ghcr.io/llmservice/operator:0.1.0", seconds=60)
QUOTA = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=4, limited: pods=4'


def text_of(result: ModelFacts | InspectionFailure) -> str:
    return answer_text(answer_of("hf://owner/name", "", result))


def failed(reason: FailureReason, message: str = "it is so") -> str:
    return text_of(InspectionFailure(reason, message))


def a_service(**changes: Any) -> LLMService:
    return LLMService.parse(an_llmservice(**{"spec__model__uri": "hf://owner/name", **changes}))


@dataclass
class World:
    """A cluster, the inspections of one process, and a clock."""

    cluster: InMemoryCluster = field(default_factory=InMemoryCluster)
    seconds: float = 0.0
    settings: InspectionSettings = SETTINGS
    inspections: Inspections = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget everything, as a new process has."""
        self.inspections = Inspections(
            cluster=self.cluster, registry=RegistrySettings(), settings=self.settings, clock=lambda: self.seconds
        )

    async def ask(self, *, after: float = 1.0, **changes: Any) -> Inspected:
        self.seconds += after
        return await self.inspections.facts_of(a_service(**changes))

    def requests(self, verb: str) -> int:
        return sum(written == verb and ref.kind == "Job" for written, ref in self.cluster.writes)


@pytest.fixture
def world() -> World:
    return World()


async def test_a_job_is_made_and_its_answer_is_read(world: World) -> None:
    assert (await world.ask()).again_seconds
    assert (await world.ask()).again_seconds
    pod = run(world.cluster, the_job(world.cluster), waiting("ContainerCreating"))
    assert (await world.ask()).again_seconds
    world.cluster.edit(pod, lambda live: live.update(status=ended(text_of(FACTS))))
    assert await world.ask() == Inspected(facts=FACTS)
    assert (world.requests("post"), world.requests("delete")) == (1, 0)


async def test_a_hundred_services_of_one_model_ask_once(world: World) -> None:
    names: list[dict[str, Any]] = [
        {"metadata__name": f"chat-{number}", "metadata__uid": f"u-{number}"} for number in range(100)
    ]
    first = await asyncio.gather(*(world.ask(after=0, **name) for name in names))
    assert all(found.again_seconds for found in first)
    run(world.cluster, the_job(world.cluster), ended(text_of(FACTS)))
    world.seconds += 1
    reads = Counter[str]()
    world.cluster.before = lambda verb, _: reads.update([verb])
    second = await asyncio.gather(*(world.ask(after=0, **name) for name in names))
    world.seconds += 1
    third = await asyncio.gather(*(world.ask(after=0, **name) for name in names))
    assert {found.facts for found in second} <= {FACTS, None}
    assert {found.facts for found in third} == {FACTS}
    assert (world.requests("post"), reads["get"], reads["list"]) == (1, 1, 1)


async def test_a_restarted_operator_finds_the_answer_that_is_there(world: World) -> None:
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(text_of(FACTS)))
    world.restart()
    assert (await world.ask()).facts == FACTS
    assert world.requests("post") == 1


async def test_the_owner_of_a_shared_job_may_go_while_it_runs(world: World) -> None:
    await world.ask()
    world.cluster.remove(ref_of(the_job(world.cluster)))
    other: dict[str, Any] = {"metadata__name": "other", "metadata__uid": "u-2"}
    assert (await world.ask(**other)).again_seconds
    run(world.cluster, the_job(world.cluster), ended(text_of(FACTS)))
    assert the_job(world.cluster)["metadata"]["ownerReferences"][0]["uid"] == "u-2"
    assert (await world.ask(**other)).facts == FACTS


@pytest.mark.parametrize("reason", FailureReason)
async def test_a_failure_is_told_by_its_name_and_asked_again_after_minutes(world: World, reason: FailureReason) -> None:
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(failed(reason), exitCode=1))
    found = await world.ask()
    assert found.failure is not None
    assert (found.failure.reason, found.facts, found.again_seconds) == (reason, None, None)
    assert jobs_in(world.cluster) == []
    assert (await world.ask(after=FAILED_SECONDS - 2)).failure == found.failure
    assert (await world.ask(after=2)).again_seconds
    assert world.requests("post") == 2


async def holds(world: World, result: ModelFacts | InspectionFailure) -> float:
    """For how many seconds the next answer is remembered."""
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(text_of(result), exitCode=1))
    await world.ask()
    asked, since = world.requests("post"), world.seconds
    while world.requests("post") == asked:
        await world.ask(after=10)
    world.cluster.remove(ref_of(the_job(world.cluster)))
    return world.seconds - since


async def test_a_model_that_is_refused_again_and_again_is_looked_at_more_seldom(world: World) -> None:
    unknown = InspectionFailure(FailureReason.REPOSITORY_UNKNOWN, "it is so")
    assert [await holds(world, unknown) for _ in range(5)] == [120, 240, 480, 900, 900]
    throttled = InspectionFailure(FailureReason.THROTTLED, "it is so")
    assert [await holds(world, throttled) for _ in range(2)] == [120, 120]


@pytest.mark.parametrize(
    "message",
    [
        "{", "[]", "null", "\0" * 4096, "x" * 100_000, '{"facts": {"layers": 1e99}}', '{"facts": {"layers": -1}}',
        '{"failure": {"reason": "Sabotage"}}', '{"facts": null}', "[" * 4000,
    ],
)  # fmt: skip
async def test_a_hostile_message_is_no_facts(world: World, message: str) -> None:
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(message))
    found = await world.ask()
    assert found.failure is not None
    assert found.failure.reason is FailureReason.NOT_A_MODEL
    assert len(str(found.failure)) < 1024


async def test_secrets_in_a_message_are_hidden(world: World) -> None:
    await world.ask()
    said = "proxy http://me:hunter2secret@proxy.example \n \x1b[31m hf_abcDEF0123456789abcdef"
    told = json.dumps({"failure": {"reason": "NoRoute", "message": said}})
    run(world.cluster, the_job(world.cluster), ended(told))
    found = await world.ask()
    assert found.failure is not None
    for secret in ("hunter2secret", "hf_abcDEF0123456789", "\x1b", "\n"):
        assert secret not in found.failure.message


def owned_by(api_version: str, kind: str) -> dict[str, Any]:
    owner = {"apiVersion": api_version, "kind": kind, "name": "chat", "uid": "u", "controller": True}
    return {"metadata__ownerReferences": [owner]}


def like_ours(**changes: Any) -> Manifest:
    """The Job that will be asked for, made by somebody else, with something changed."""
    job = inspection_job(a_service(), RegistrySettings(), SETTINGS)
    for path, value in changes.items():
        *parents, name = path.split("__")
        part: Any = job
        for parent in parents:
            part = part[int(parent)] if parent.isdecimal() else part[parent]
        part[name] = value
    return job


OURS, OTHER = like_ours()["spec"]["template"]["spec"]["containers"], {"name": "x", "image": "x"}
CONTAINER = "spec__template__spec__containers__0"
FORGED: dict[str, dict[str, Any]] = {
    "nobodys": {"metadata__ownerReferences": []},
    "of-another-kind": owned_by("apps/v1", "Deployment"),
    "of-another-group": owned_by("llmservice.dev.example/v1", "LLMService"),
    "another-image": {f"{CONTAINER}__image": "evil"},
    "another-question": {f"{CONTAINER}__args": ["inspect", "hf://owner/other"]},
    "a-command": {f"{CONTAINER}__command": ["sh"]},
    "a-hook": {f"{CONTAINER}__lifecycle": {"postStart": {"exec": {"command": ["sh"]}}}},
    "a-variable": {f"{CONTAINER}__env": [{"name": "HF_ENDPOINT", "value": "https://evil.example"}]},
    "a-mount": {f"{CONTAINER}__volumeMounts": [{"name": "x", "mountPath": "/opt"}]},
    "another-path": {f"{CONTAINER}__terminationMessagePath": "/evil"},
    "one-more-container": {"spec__template__spec__containers": [*OURS, OTHER]},
    "an-init-container": {"spec__template__spec__initContainers": [OTHER]},
}


@pytest.mark.parametrize("forged", FORGED)
async def test_a_job_that_only_has_the_name_is_neither_read_nor_touched(world: World, forged: str) -> None:
    job = world.cluster.create(like_ours(**FORGED[forged]))
    run(world.cluster, job, ended(text_of(FACTS)))
    found = await world.ask()
    assert (found.facts, found.failure, found.again_seconds) == (None, None, None)
    assert job["metadata"]["name"] in found.note
    assert world.cluster.peek(ref_of(job)) == job
    assert world.cluster.writes == []


async def test_a_pod_with_the_jobs_label_and_another_owner_is_not_read(world: World) -> None:
    await world.ask()
    job = the_job(world.cluster)
    stranger = {**job, "metadata": {**job["metadata"], "uid": "of-another"}}
    run(world.cluster, stranger, ended(text_of(FACTS)), name="forged")
    assert (await world.ask()).again_seconds


async def test_of_several_pods_the_first_counts(world: World) -> None:
    await world.ask()
    job = the_job(world.cluster)
    run(world.cluster, job, ended(text_of(FACTS)), name="b")
    late = run(world.cluster, job, ended(failed(FailureReason.GATED)), name="a")
    world.cluster.edit(late, lambda live: live["metadata"].update(creationTimestamp="2999-01-01T00:00:00Z"))
    assert (await world.ask()).facts == FACTS


async def test_what_a_namespace_was_told_counts_for_it_alone(world: World) -> None:
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(text_of(FACTS)))
    assert (await world.ask()).facts
    assert (await world.ask(metadata__namespace="another")).again_seconds


async def test_a_refused_job_leaves_the_service_without_facts(world: World) -> None:
    def refuse(verb: str, ref: Ref) -> None:
        if verb == "post":
            raise Refused("Forbidden", f"{ref} is forbidden: exceeded quota: jobs, token=hf_abcDEF0123456789abcdef")

    world.cluster.before = refuse
    found = await world.ask()
    assert (found.facts, found.failure, found.again_seconds) == (None, None, None)
    assert "exceeded quota: jobs" in found.note
    assert "hf_abcDEF0123456789" not in found.note
    assert await world.ask() == found


async def test_a_namespace_that_goes_and_an_api_server_that_is_away_are_the_pass_s_own_matter(world: World) -> None:
    for problem in (Terminating("NamespaceTerminating", "going"), Unavailable("Unreachable", "away")):

        def fails(verb: str, _: Ref, problem: Exception = problem) -> None:
            if verb == "get":
                raise problem

        world.cluster.before = fails
        with pytest.raises(type(problem)):
            await world.ask()
    world.cluster.before = lambda *_: None
    assert (await world.ask()).again_seconds
    assert world.requests("post") == 1


async def test_a_webhook_for_jobs_that_does_not_answer_keeps_no_service_waiting_for_ever(world: World) -> None:
    def fails(verb: str, _: Ref) -> None:
        if verb == "post":
            raise Unavailable("InternalError", "failed calling webhook jobs.example")

    world.cluster.before = fails
    assert (await world.ask()).again_seconds
    assert "jobs.example" in (await world.ask(after=SETTINGS.seconds)).note


async def test_somebody_who_was_quicker_is_looked_at_next(world: World) -> None:
    def quicker(verb: str, ref: Ref) -> None:
        if verb == "post" and world.cluster.peek(ref) is None:
            world.cluster.create(like_ours())
            raise Conflict("AlreadyExists", "there it is")

    world.cluster.before = quicker
    assert (await world.ask()).again_seconds
    live = world.cluster.peek(ref_of(like_ours()))
    assert live is not None
    run(world.cluster, live, ended(text_of(FACTS)))
    assert (await world.ask()).facts == FACTS


OBSTACLES: dict[str, tuple[Manifest | None, str]] = {
    "image": (waiting("ImagePullBackOff", "Back-off pulling image"), "ImagePullBackOff: Back-off pulling image"),
    "secret": (waiting("CreateContainerConfigError", 'secret "hub" not found'), 'secret "hub" not found'),
    "node": (
        {"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]},
        "0/3 nodes are available",
    ),
    "slow": ({"containerStatuses": [{"name": "inspect", "state": {"running": {}}}]}, "60 s"),
    "no-pod": (None, "no pod"),
}


@pytest.mark.parametrize("obstacle", OBSTACLES)
async def test_after_a_minute_it_says_what_is_in_the_way_and_takes_its_job_away(world: World, obstacle: str) -> None:
    status, why = OBSTACLES[obstacle]
    await world.ask()
    if status is not None:
        run(world.cluster, the_job(world.cluster), status)
    assert (await world.ask(after=58)).again_seconds
    found = await world.ask(after=2)
    assert (found.facts, found.failure, found.again_seconds) == (None, None, None)
    assert why in found.note
    assert jobs_in(world.cluster) == []


async def test_a_quota_that_leaves_no_room_for_the_pod_is_named(world: World) -> None:
    await world.ask()
    tell(world.cluster, the_job(world.cluster), "FailedCreate", f"Error creating: {QUOTA}")
    assert "exceeded quota: small" in (await world.ask(after=60)).note


async def test_a_claim_that_cannot_be_mounted_is_named(world: World) -> None:
    await world.ask()
    pod = run(world.cluster, the_job(world.cluster), waiting("ContainerCreating"))
    live = world.cluster.peek(pod)
    assert live is not None
    tell(world.cluster, live, "FailedMount", "Multi-Attach error for volume pv-1")
    assert "Multi-Attach error" in (await world.ask(after=60)).note


@pytest.mark.parametrize("message", [None, ""])
async def test_an_end_without_an_answer_is_told_at_once(world: World, message: str | None) -> None:
    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(message, reason="OOMKilled", exitCode=137))
    found = await world.ask()
    assert ("OOMKilled" in found.note, "137" in found.note, found.failure) == (True, True, None)


async def test_a_job_whose_time_was_over_before_the_restart_is_not_waited_for(world: World) -> None:
    await world.ask()
    fail(world.cluster, the_job(world.cluster))
    world.restart()
    assert (await world.ask()).note


async def test_what_cannot_be_deleted_does_not_matter(world: World) -> None:
    def refuse(verb: str, _: Ref) -> None:
        if verb == "delete":
            raise Refused("Forbidden", "no")

    await world.ask()
    run(world.cluster, the_job(world.cluster), ended(failed(FailureReason.GATED)))
    world.cluster.before = refuse
    assert (await world.ask()).failure


async def test_few_run_at_once_and_namespaces_take_turns(world: World) -> None:
    for number in range(50):
        await world.ask(after=0, metadata__namespace="greedy", spec__model__uri=f"hf://a/model-{number}")
    assert len(jobs_in(world.cluster, "greedy")) == 6
    await world.ask(after=0, metadata__namespace="modest")
    assert len(jobs_in(world.cluster, "modest")) == 1


async def test_a_turn_that_does_not_come_is_not_waited_for_longer_than_a_minute(world: World) -> None:
    names: list[dict[str, Any]] = [
        {"metadata__namespace": "greedy", "spec__model__uri": f"hf://a/model-{number}"} for number in range(7)
    ]
    for name in names:
        await world.ask(after=0, **name)
    for _ in range(4):
        found = [await world.ask(after=2, **name) for name in reversed(names)]
        assert all(one.again_seconds for one in found)
    world.seconds = 60
    last = await world.ask(after=0, **names[-1])
    assert (last.again_seconds, "turn" in last.note) == (None, True)


async def test_who_no_longer_asks_holds_no_turn(world: World) -> None:
    for number in range(6):
        await world.ask(after=0, spec__model__uri=f"hf://a/model-{number}")
    assert len(jobs_in(world.cluster)) == 6
    waiting_one: dict[str, Any] = {"spec__model__uri": "hf://a/next"}
    for _ in range(40):
        await world.ask(**waiting_one)
    assert len(jobs_in(world.cluster)) == 7


@pytest.mark.parametrize(
    ("settings", "changes"),
    [
        (InspectionSettings(), {}),
        (SETTINGS, {"spec__model__inspect": "Never"}),
        (SETTINGS, {"spec__engine": "vllm", "spec__model__uri": "s3://bucket/model"}),
    ],
)
async def test_where_nobody_wants_it_nothing_is_asked(settings: InspectionSettings, changes: dict[str, Any]) -> None:
    world = World(settings=settings)
    world.cluster.before = lambda verb, _: pytest.fail(verb)
    assert await world.ask(**changes) == Inspected()


def test_it_is_off_without_an_image_or_when_an_administrator_says_so() -> None:
    assert inspection_settings(Settings()).image == ""
    assert inspection_settings(Settings(inspection="never", inspection_image="a:1")).image == ""
    assert inspection_settings(Settings(inspection_image="a:1", inspection_seconds=90)) == InspectionSettings(
        image="a:1", seconds=90
    )


async def test_what_is_remembered_is_bounded_and_the_job_knows_the_rest(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("llmservice.reconcilers.inspections._REMEMBERED_AT_MOST", 3)
    for number in range(5):
        uri: dict[str, Any] = {"spec__model__uri": f"hf://a/model-{number}"}
        await world.ask(**uri)
        job = world.cluster.peek(ref_of(inspection_job(a_service(**uri), RegistrySettings(), SETTINGS)))
        assert job is not None
        run(world.cluster, job, ended(text_of(FACTS)))
        assert (await world.ask(**uri)).facts
    assert len(world.inspections._known) == 3
    assert (await world.ask(spec__model__uri="hf://a/model-0")).facts
    assert world.requests("post") == 5


async def test_a_question_that_was_given_up_is_asked_anew_with_its_whole_time(world: World) -> None:
    """Its service went, and nobody came by to notice; an hour later another one asks the same."""
    await world.ask()
    await world.ask()
    world.cluster.remove(ref_of(the_job(world.cluster)))
    assert (await world.ask(after=3600.0)).again_seconds
    assert (await world.ask()).again_seconds
    run(world.cluster, the_job(world.cluster), ended(text_of(FACTS)))
    assert (await world.ask()).facts == FACTS
