"""A model is on its claim before anything is started for it: one download, whoever wants it, and few writes."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.status import LLMServiceStatus
from llmservice.converging.weights import AGAIN_AFTER_SECONDS
from llmservice.converging.weights_progress import Received
from llmservice.errors import OperatorError, Refused, Unavailable
from llmservice.models.download_failure import DownloadFailureReason
from llmservice.objects.references import Ref, ref_of, uid_of
from llmservice.rendering.download_job import DownloadSettings
from tests.scenarios.downloading import COMMIT, PATH, SHARED, SIZE, DownloadWorld, a_download, failure, said
from tests.scenarios.world import NAMESPACE

CHILDREN = ("Deployment", "Service", "PodDisruptionBudget")
_CHAT = Ref("LLMService", NAMESPACE, "chat")
_R = DownloadFailureReason


def reason(world: DownloadWorld, kind: str = "Ready", name: str = "chat") -> str:
    return str(world.condition(kind, name).get("reason", ""))


def weights(world: DownloadWorld, name: str = "chat") -> dict[str, Any]:
    status = world.get("LLMService", name).get("status", {})
    LLMServiceStatus.model_validate(status)
    found: dict[str, Any] = status.get("weights", {})
    return found


def engine(world: DownloadWorld, name: str = "chat") -> dict[str, Any]:
    (container,) = world.get("Deployment", name)["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = container
    return found


def test_nothing_is_made_until_the_model_is_there_and_then_it_is_loaded_from_the_claim() -> None:
    world = a_download()
    for _ in range(5):
        world.passes()
    assert not any(world.exists(kind) for kind in CHILDREN)
    assert (reason(world), reason(world, "WeightsReady")) == ("Downloading", "Downloading")
    assert (world.condition("Reconciling")["status"], world.condition("Stalled")) == ("True", {})
    world.answers()
    world.serves()
    assert (reason(world), world.condition("WeightsReady")["status"]) == ("Ready", "True")
    assert f"/models/{PATH}" in engine(world)["args"]
    found = weights(world)
    assert (found["path"], found["commit"], found["bytes"], found["claim"]) == (PATH, COMMIT, SIZE, "models")
    world.writes()
    for _ in range(3):
        assert world.pass_once() is None
    assert world.writes() == []


def test_three_services_share_one_download() -> None:
    world, names = a_download(), ("chat", "second", "third")
    for name in names[1:]:
        world.apply(name, **SHARED)
    for _ in range(3):
        world.passes(*names)
    assert len(world.jobs()) == 1
    world.answers()
    world.serves(*names)
    assert world.written()["post Job"] == 1
    assert [f"/models/{PATH}" in engine(world, name)["args"] for name in names] == [True] * 3


def test_the_deleted_owner_of_a_download_takes_none_from_the_others() -> None:
    world = a_download()
    world.apply("second", **SHARED)
    world.passes("chat", "second")
    first = uid_of(world.job())
    world.cluster.remove(_CHAT)
    assert world.jobs() == []
    world.passes("second")
    assert uid_of(world.job()) != first
    assert world.job()["metadata"]["ownerReferences"][0]["name"] == "second"


def test_who_deletes_the_only_service_ends_the_download_and_keeps_the_claim() -> None:
    world = a_download()
    world.cluster.remove(_CHAT)
    assert world.jobs() == []
    assert world.exists("PersistentVolumeClaim", "models")


def test_who_comes_by_while_another_looks_hears_what_was_known() -> None:
    world = a_download()
    world.received = Received(SIZE // 2, SIZE)
    world.pod()
    world.passes()
    world.apply("second", **SHARED)
    world.time += timedelta(seconds=3)

    async def both() -> None:
        await asyncio.gather(*(world.reconciler((NAMESPACE, name)) for name in ("chat", "second")))

    asyncio.run(both())
    assert world.read == 2
    messages = {world.condition(name=name)["message"] for name in ("chat", "second")}
    assert len(messages) == 1
    assert "50.0 of 100.0 GB" in messages.pop()


def test_a_killed_pod_is_followed_by_another_and_no_failure_is_told() -> None:
    world = a_download()
    world.received = Received(SIZE // 2, SIZE)
    world.ends(world.pod(), code=137)
    world.passes()
    assert reason(world) == "Downloading"
    world.pod()
    world.passes()
    assert "50.0 of 100.0 GB (50 %)" in world.condition()["message"]
    assert len(world.jobs()) == 1


def test_a_pod_that_was_interrupted_and_said_so_is_followed_by_another() -> None:
    world = a_download()
    world.ends(world.pod(), said(failure(_R.INTERRUPTED)), code=143)
    world.passes()
    assert reason(world) == "Downloading"


def test_the_status_is_written_twenty_times_at_most_however_long_it_takes() -> None:
    world = a_download()
    world.pod()
    world.written()
    messages = set()
    for step in range(1, 1001):
        world.received = Received(SIZE * step // 1000, SIZE)
        world.passes()
        messages.add(world.condition()["message"])
    world.answers()
    world.serves()
    written = world.written()
    assert 12 <= len(messages) <= 18
    assert written["apply_status LLMService"] <= 20


def test_a_download_that_stands_still_and_goes_on_again_writes_no_more() -> None:
    world = a_download()
    world.pod()
    world.written()
    for step in range(1, 400):
        world.received = Received(SIZE * (step // 40) // 10, SIZE)
        world.passes()
    written = world.written()
    assert written["apply_status LLMService"] <= 20
    assert written["record Event"] <= 3


def test_what_is_left_is_told_in_time_and_per_cent() -> None:
    world = a_download()
    world.pod()
    for percent in (0, 10):
        world.received = Received(percent * SIZE // 100, SIZE)
        world.passes(seconds=100)
    assert "10.0 of 100.0 GB (10 %), about 15 min left" in world.condition()["message"]


def test_a_page_that_cannot_be_read_changes_nothing_but_what_is_known() -> None:
    world = a_download()
    world.pod()
    world.passes()
    before = world.condition()["message"]
    world.written()
    for _ in range(20):
        world.passes()
    assert (reason(world), world.condition()["message"]) == ("Downloading", before)
    assert world.written() == {}


def test_nothing_for_a_minute_is_an_event_once_in_a_quarter_of_an_hour() -> None:
    world = a_download()
    world.received = Received(SIZE // 10, SIZE)
    world.pod()
    for _ in range(40):
        world.passes(seconds=30)
    events = [event for event in world.events() if event["reason"] == "DownloadSlow"]
    assert len(events) == 2
    assert events[0]["type"] == "Warning"


@pytest.mark.parametrize(
    ("why", "told", "stalled"),
    [
        (_R.GATED, "ModelAccessDenied", True),
        (_R.REPOSITORY_UNKNOWN, "ModelNotFound", True),
        (_R.REVISION_UNKNOWN, "ModelNotFound", True),
        (_R.FILE_MISSING, "ModelNotFound", True),
        (_R.BUCKET_DENIED, "ModelAccessDenied", True),
        (_R.NOT_WRITABLE, "ClaimAccess", True),
        (_R.DISK_FULL, "ClaimTooSmall", True),
        (_R.THROTTLED, "DownloadFailed", False),
        (_R.NO_ROUTE, "DownloadFailed", False),
        (_R.CHECKSUM_MISMATCH, "DownloadFailed", False),
    ],
)
def test_a_failure_is_told_with_its_reason_and_tried_again_after_a_pause(
    why: DownloadFailureReason, told: str, *, stalled: bool
) -> None:
    world = a_download()
    world.answers(failure(why))
    (again,) = world.passes()
    assert again is not None
    assert (reason(world), reason(world, "WeightsReady")) == (told, told)
    assert (world.condition("Stalled").get("status") == "True") is stalled
    first = uid_of(world.job())
    world.writes()
    world.passes(seconds=again - 1)
    assert (uid_of(world.job()), world.writes()) == (first, [])
    for _ in range(3):
        world.passes()
    assert uid_of(world.job()) != first
    assert not any(world.exists(kind) for kind in CHILDREN)


def test_what_stays_refused_is_asked_again_while_others_come_by() -> None:
    world = a_download()
    world.apply("other", **{**SHARED, "spec__model__file": "other.gguf"})
    world.answers(failure(_R.GATED))
    world.passes("chat", "other")
    first = next(uid_of(job) for job in world.jobs() if "--file=tiny-Q4_0.gguf" in str(job["spec"]))
    for _ in range(45):
        world.passes("other")
    for _ in range(3):
        world.passes("chat", "other")
    assert first not in {uid_of(job) for job in world.jobs()}
    assert reason(world) == "Downloading"


def test_a_failure_is_not_passed_on_to_who_asks_in_another_way_in_the_same_second() -> None:
    world = a_download()
    world.apply("second", **SHARED, spec__model__tokenSecretRef={"name": "hub", "key": "token"})
    world.answers(failure(_R.GATED))
    world.passes("chat", "second")
    assert (reason(world), reason(world, name="second")) == ("ModelAccessDenied", "Downloading")


def test_the_pauses_grow() -> None:
    world, pauses = a_download(), []
    for _ in range(4):
        world.answers(failure(_R.NO_ROUTE))
        (again,) = world.passes()
        assert again is not None
        pauses.append(again)
        world.passes(seconds=again + 1)
        world.passes()
        assert len(world.jobs()) == 1
    assert pauses == [30, 60, 120, 240]


def test_a_full_disk_is_told_with_both_numbers() -> None:
    world = a_download()
    world.answers(failure(_R.DISK_FULL, needed=141 * 10**9, free=80 * 10**9))
    world.passes()
    message = world.condition()["message"]
    assert "141.0 GB" in message
    assert "80.0 GB" in message


def test_a_failure_of_one_token_is_not_that_of_another() -> None:
    world = a_download()
    world.apply("second", **SHARED, spec__model__tokenSecretRef={"name": "hub", "key": "token"})
    world.answers(failure(_R.GATED))
    world.passes()
    assert reason(world) == "ModelAccessDenied"
    for _ in range(3):
        world.passes("second")
    assert reason(world, name="second") == "Downloading"
    (environment,) = [one["spec"]["template"]["spec"]["containers"][0]["env"] for one in world.jobs()]
    assert "HF_TOKEN" in {variable["name"] for variable in environment}
    world.answers()
    world.serves("second")
    world.passes(seconds=1000)
    world.passes()
    world.reconcile()
    assert (reason(world, name="second"), world.exists("Deployment")) == ("Ready", True)


def test_a_job_that_ended_without_a_word_is_a_failure_that_passes() -> None:
    world = a_download()
    world.ends(world.pod(), code=137)
    world.job_ends("Failed")
    world.passes()
    assert reason(world) == "DownloadFailed"
    assert "137" in world.condition()["message"]


def test_a_job_whose_pod_was_cleaned_up_is_made_again() -> None:
    world = a_download()
    world.job_ends()
    first = uid_of(world.job())
    for _ in range(3):
        world.passes()
    assert uid_of(world.job()) != first


def test_what_is_in_the_way_of_its_pod_is_told() -> None:
    world = a_download()
    world.pod({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}})
    world.passes(seconds=20)
    assert "ImagePullBackOff" in world.condition()["message"]


def test_an_edit_keeps_the_old_replicas_until_the_new_model_is_there() -> None:
    world = a_download()
    world.answers()
    world.serves()
    before = world.get("Deployment")
    world.apply(**{**SHARED, "spec__model__file": "other.gguf"})
    world.passes()
    assert reason(world) == "Downloading"
    assert world.condition("Available")["status"] == "True"
    assert world.get("Deployment")["spec"] == before["spec"]
    assert weights(world)["path"] == PATH
    new = next(job for job in world.jobs() if "--file=other.gguf" in str(job["spec"]))
    world.apply(**SHARED)
    world.reconcile()
    assert reason(world) == "Ready"
    assert world.exists("Job", new["metadata"]["name"])


def test_an_edit_of_something_else_downloads_nothing_again() -> None:
    world = a_download()
    world.answers()
    world.serves()
    world.cluster.remove(ref_of(world.job()))
    world.apply(**SHARED, spec__replicas=2)
    world.writes()
    world.reconcile()
    assert world.jobs() == []
    assert world.get("Deployment")["spec"]["replicas"] == 2


def test_suspending_acts_at_once_and_gives_the_download_up() -> None:
    world = a_download()
    world.answers()
    world.serves()
    other = {**SHARED, "spec__model__file": "other.gguf"}
    world.apply(**other)
    world.passes()
    world.apply(**other, spec__suspend=True)
    world.reconcile()
    assert world.get("Deployment")["spec"]["replicas"] == 0
    assert reason(world, "WeightsReady") == ""
    world.apply("second", **{**SHARED, "spec__model__file": "third.gguf"})
    for _ in range(60):
        world.passes("second")
    assert [job for job in world.jobs() if "--file=other.gguf" in str(job["spec"])] == []


def test_a_suspended_service_asks_for_nothing_and_finds_its_model_again() -> None:
    world = a_download()
    world.answers()
    world.serves()
    before = world.get("Deployment")["spec"]["template"]
    world.cluster.remove(ref_of(world.job()))
    for suspend in (True, False):
        world.apply(**SHARED, spec__suspend=suspend)
        world.reconcile()
        assert world.get("Deployment")["spec"]["template"] == before
    assert (world.jobs(), world.get("Deployment")["spec"]["replicas"]) == ([], 1)


def test_a_revision_that_comes_back_finds_its_model_although_the_status_knows_another() -> None:
    world = a_download()
    world.answers()
    world.serves()
    body = world.get("LLMService")
    service, status = LLMService.parse(body), body["status"]
    plan = world.reconciler.plan(service)
    later = {**body, "status": {**status, "weights": {**status["weights"], "key": "of-another", "path": "x"}}}
    world.written()
    assert asyncio.run(world.downloads.weights_of(service, plan, later)) == PATH
    assert world.written() == {}


def test_a_restarted_operator_goes_on_without_a_second_download() -> None:
    world = a_download()
    world.received = Received(SIZE // 2, SIZE)
    world.pod()
    world.passes()
    world.written()
    world.restart()
    for _ in range(3):
        world.passes()
    written = world.written()
    assert (len(world.jobs()), written["post Job"], written["apply_status LLMService"] <= 1) == (1, 0, True)
    world.restart()
    world.answers()
    world.serves()
    assert world.written()["post Job"] == 0


def test_another_claim_of_the_name_is_filled_again() -> None:
    world = a_download()
    world.answers()
    world.serves()
    world.cluster.remove(Ref("PersistentVolumeClaim", NAMESPACE, "models"))
    world.cluster.remove(ref_of(world.job()))
    world.claim()
    world.apply(**SHARED, spec__replicas=2)
    world.passes()
    assert (reason(world), len(world.jobs())) == ("Downloading", 1)


def crashed(world: DownloadWorld) -> None:
    """The engine does not find its file."""
    log = f"gguf_init_from_file: failed to open GGUF file '/models/{PATH}' (No such file or directory)"
    terminated = {"exitCode": 1, "reason": "Error", "message": log}

    def change(live: dict[str, Any]) -> None:
        state = {"waiting": {"reason": "CrashLoopBackOff"}}
        status = {"name": "engine", "ready": False, "restartCount": 3, "state": state}
        live["status"]["containerStatuses"] = [{**status, "lastState": {"terminated": terminated}}]
        live["status"]["conditions"] = [{"type": "Ready", "status": "False"}]

    world.cluster.edit(Ref("Pod", NAMESPACE, "chat-0"), change, subresource="status")


def test_files_that_somebody_removed_are_downloaded_again_and_not_in_a_loop() -> None:
    world = a_download()
    world.answers()
    world.serves()
    crashed(world)
    world.passes(seconds=AGAIN_AFTER_SECONDS + 1)
    assert (reason(world), reason(world, "WeightsReady")) == ("WeightsMissing", "WeightsMissing")
    for _ in range(3):
        world.passes()
    assert (reason(world), world.written()["post Job"]) == ("Downloading", 2)
    assert weights(world) == {}
    world.answers()
    for _ in range(AGAIN_AFTER_SECONDS // 10 - 5):
        world.passes(seconds=10)
    assert world.condition("WeightsReady")["status"] == "True"
    assert world.written()["post Job"] == 0
    assert reason(world) == "ModelNotFound"


def test_no_more_than_a_few_run_at_once_and_namespaces_take_turns() -> None:
    world = DownloadWorld(settings=DownloadSettings(image="a:1", at_once=1))
    world.claim()
    for name in ("chat", "second"):
        world.apply(name, **{**SHARED, "spec__model__file": f"{name}.gguf"})
    world.passes("chat", "second")
    assert len(world.jobs()) == 1
    assert "LLMSERVICE_DOWNLOADS_AT_ONCE" in world.condition(name="second")["message"]
    world.answers()
    world.serves("chat")
    world.passes("second")
    assert len([job for job in world.jobs() if "second.gguf" in str(job["spec"])]) == 1


def test_a_claim_that_is_not_there_is_told_and_found_when_it_is_made() -> None:
    world = DownloadWorld()
    world.apply(**SHARED)
    world.passes()
    assert (reason(world), reason(world, "Stalled"), world.jobs()) == ("ClaimNotFound", "ClaimNotFound", [])
    world.claim()
    world.passes()
    assert (reason(world), len(world.jobs())) == ("Downloading", 1)


@pytest.mark.parametrize("when_deleted", ["Delete", "Retain"])
def test_a_claim_is_made_once_and_goes_or_stays_with_its_service(when_deleted: str) -> None:
    world = DownloadWorld()
    cache = {"claim": {"size": "10Gi", "storageClassName": "fast", "whenDeleted": when_deleted}}
    world.apply(**{**SHARED, "spec__model__cache": cache})
    world.passes()
    claim = world.get("PersistentVolumeClaim", "chat-weights")
    assert claim["spec"]["storageClassName"] == "fast"
    assert claim["spec"]["resources"] == {"requests": {"storage": "10Gi"}}
    world.answers()
    world.serves()
    assert world.written()["post PersistentVolumeClaim"] == 1
    world.cluster.remove(_CHAT)
    assert world.exists("PersistentVolumeClaim", "chat-weights") is (when_deleted == "Retain")
    if when_deleted == "Retain":
        world.apply(**{**SHARED, "spec__model__cache": cache})
        world.passes()
        assert reason(world) == "Downloading"


def test_a_claim_for_one_node_and_two_replicas_is_told_beside_the_model() -> None:
    world = DownloadWorld()
    world.claim(accessModes=["ReadWriteOnce"])
    world.apply(**SHARED, spec__replicas=2)
    world.passes()
    world.answers()
    world.serves()
    assert (reason(world), world.condition("WeightsReady")["status"]) == ("Ready", "True")
    assert "ReadWriteOnce" in weights(world)["note"]
    assert "ReadWriteOnce" in world.condition("WeightsReady")["message"]


def test_a_claim_that_no_two_replicas_can_use_is_refused_before_anything_is_downloaded() -> None:
    world = DownloadWorld()
    world.claim(accessModes=["ReadWriteOncePod"])
    world.apply(**SHARED, spec__replicas=2)
    world.passes()
    assert (reason(world), reason(world, "Stalled"), world.jobs()) == ("ClaimAccess", "ClaimAccess", [])


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ({"size": "1Gi"}, "ClaimTooSmall"),
        ({"size": "50Gi", "accessModes": ["ReadWriteOncePod"]}, "ClaimAccess"),
    ],
)
def test_a_claim_that_its_service_could_not_use_is_not_made_and_one_that_was_mended_is(
    claim: dict[str, Any], reason: str
) -> None:
    world = DownloadWorld()
    facts = {"fileBytes": 10 * 2**30}
    wanted = {**SHARED, "spec__replicas": 2 if reason == "ClaimAccess" else 1, "spec__model__facts": facts}
    world.apply(**{**wanted, "spec__model__cache": {"claim": {"accessModes": ["ReadWriteOnce"], **claim}}})
    world.passes()
    assert world.condition("WeightsReady")["reason"] == reason
    assert not asyncio.run(world.cluster.list("PersistentVolumeClaim", NAMESPACE))
    assert not world.jobs()
    world.apply(**{**wanted, "spec__model__cache": {"claim": {"size": "50Gi", "accessModes": ["ReadWriteMany"]}}})
    world.passes()
    assert world.get("PersistentVolumeClaim", "chat-weights")
    assert world.job()


def test_between_two_pods_it_is_told_how_the_last_one_ended() -> None:
    world = a_download()
    world.ends(world.pod(), code=137)
    world.passes(seconds=20)
    assert "exit code 137" in world.condition()["message"]


def test_a_claim_of_that_name_by_somebody_else_is_left_alone() -> None:
    world = DownloadWorld()
    world.claim("chat-weights")
    world.apply(**{**SHARED, "spec__model__cache": {"claim": {"size": "10Gi"}}})
    world.passes()
    assert (reason(world), world.jobs()) == ("NameConflict", [])


def test_a_job_that_only_has_the_name_is_neither_believed_nor_touched() -> None:
    world = a_download()
    world.answers()
    world.cluster.edit(ref_of(world.job()), lambda live: live["metadata"].update(ownerReferences=[]))
    forged = world.job()
    world.passes()
    assert (reason(world), reason(world, "Stalled")) == ("DownloadFailed", "DownloadFailed")
    assert world.job() == forged


@pytest.mark.parametrize("problem", [Refused("Forbidden", "quota: jobs"), Unavailable("InternalError", "quota: jobs")])
def test_who_keeps_the_job_from_being_made_is_told_and_holds_no_turn(problem: OperatorError) -> None:
    world = DownloadWorld(settings=DownloadSettings(image="a:1", at_once=1))
    world.claim()
    world.apply(**SHARED)
    world.fail("post", "Job", problem)
    world.passes()
    assert (reason(world), reason(world, "Stalled")) == ("RefusedByCluster", "RefusedByCluster")
    assert "quota: jobs" in world.condition()["message"]
    world.fail("", "", problem)
    world.apply("second", **{**SHARED, "spec__model__file": "second.gguf"})
    world.passes("second")
    assert len(world.jobs()) == 1


def test_a_claim_that_may_not_be_made_is_told() -> None:
    world = DownloadWorld()
    world.apply(**{**SHARED, "spec__model__cache": {"claim": {"size": "10Gi"}}})
    world.fail("post", "PersistentVolumeClaim", Refused("Forbidden", "exceeded quota: storage"))
    world.passes()
    assert (reason(world), world.jobs()) == ("RefusedByCluster", [])
    assert "exceeded quota: storage" in world.condition()["message"]


def test_an_api_server_that_is_away_is_the_pass_s_own_matter() -> None:
    world = a_download()
    world.fail("get", "Job", Unavailable("Unreachable", "away"))
    with pytest.raises(Unavailable):
        world.passes()
    world.fail("", "", Unavailable("Unreachable", "away"))
    world.passes()
    assert (reason(world), len(world.jobs())) == ("Downloading", 1)


def test_without_an_image_the_cache_is_refused_and_nothing_is_written() -> None:
    world = DownloadWorld(settings=DownloadSettings())
    world.claim()
    world.apply(**SHARED)
    world.passes()
    assert "LLMSERVICE_DOWNLOAD_IMAGE" in world.condition()["message"]
    assert world.jobs() == []
