"""The checks of pods: each state has one reason, and a message that names the field or object to change."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.preparation import Preparation
from llmservice.engines.engine import LogPattern
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome, Verdict
from llmservice.untrusted.patterns import compiled
from tests.unit.converging.plans import (
    a_deployment,
    a_plan,
    a_pod,
    crashed,
    of_an_earlier_operator,
    running,
    unscheduled,
    waiting,
)
from tests.unit.proxy.lab import a_proxy

PATTERNS = (
    LogPattern(
        cause="no file",
        reason=Reason.MODEL_NOT_FOUND,
        pattern=compiled(r"failed to open .*gguf"),
        remedy="correct spec.model.uri",
    ),
)


def diagnosis(status: dict[str, Any], **observed: Any) -> Diagnosis:
    found = diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **status),), **observed), a_deployment(), PATTERNS)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("status", "reason", "names", "self_healing"),
    [
        (unscheduled("0/1 nodes: 1 Insufficient nvidia.com/gpu."), "InsufficientAccelerators", "spec.gpu.count", True),
        (unscheduled("0/1 nodes: 1 node(s) didn't match"), "Unschedulable", "spec.pod.nodeSelector", True),
        (unscheduled('persistentvolumeclaim "models" not found'), "ClaimNotFound", "models", True),
        (unscheduled('could not find v1.PersistentVolumeClaim "ml/models"'), "ClaimNotFound", "namespace ml", True),
        (unscheduled("pod has unbound immediate PersistentVolumeClaims"), "ClaimNotBound", "StorageClass", True),
        (waiting("ImagePullBackOff", "not found"), "ImagePullFailed", "spec.pod.imagePullSecrets", False),
        (waiting("InvalidImageName", "x"), "ImageNameInvalid", "spec.engineOptions.image", False),
        (waiting("CreateContainerConfigError", 'secret "t" not found'), "SecretNotFound", "Secret t", True),
        (waiting("CreateContainerConfigError", "couldn't find key k in Secret ml/t"), "SecretNotFound", "key k", True),
        (waiting("CreateContainerConfigError", 'configmap "c" not found'), "ConfigMapNotFound", "ConfigMap c", True),
        (waiting("CreateContainerError", "bad mount"), "ContainerRefused", "spec.engineOptions", False),
        (crashed(137, reason="OOMKilled"), "OutOfMemory", "spec.pod.resources.limits.memory", False),
        (crashed(137, ran_seconds=630), "CrashLooping", "137", False),
        (crashed(143, ran_seconds=172_800), "StartupTimedOut", "172800", False),
        (crashed(137, ran_seconds=604_800), "CrashLooping", "137", False),
        (crashed(137, ran_seconds=9), "OutOfMemory", "spec.pod.resources.requests.memory", False),
        (crashed(132), "CpuNotSupported", "spec.pod.nodeSelector", False),
        (crashed(135), "SharedMemoryTooSmall", "spec.pod.sharedMemory", False),
        (crashed(139), "EngineCrashed", "spec.engineOptions.version", False),
        (unscheduled("0/2 nodes: 2 Insufficient memory."), "Unschedulable", "spec.pod.resources.requests.memory", True),
        (unscheduled("0/1: 1 Insufficient ephemeral-storage."), "Unschedulable", "requests.ephemeral-storage", True),
        (
            unscheduled("0/3 nodes: 3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }."),
            "DiskFull",
            "nodes",
            True,
        ),
        (waiting("ErrImagePull", "write /var/lib/containerd/x: no space left on device"), "DiskFull", "node", True),
        (crashed(137, reason="ContainerStatusUnknown"), "NodeLost", "node", True),
        (crashed(255, reason="Unknown"), "NodeLost", "node", True),
        (crashed(128, 'exec: "vllm": not found', "StartError"), "ContainerRefused", "spec.engineOptions", False),
        (waiting("RunContainerError", 'exec: "vllm": not found'), "ContainerRefused", "spec.engineOptions", False),
        (crashed(1, "x\nfailed to open GGUF file m.gguf\ny"), "ModelNotFound", "spec.model.uri", False),
        (crashed(1, "line\nlast words"), "CrashLooping", "last words; ", False),
        (crashed(0), "CrashLooping", "code 0", False),
    ],
)
def test_names_what_is_wrong_with_a_pod(status: dict[str, Any], reason: str, names: str, self_healing: bool) -> None:
    found = diagnosis(status)
    assert (found.reason, found.self_healing) == (reason, self_healing)
    assert names in found.message


@pytest.mark.parametrize("end", [crashed(137, ran_seconds=630), crashed(143, ran_seconds=600)])
def test_an_engine_whose_probe_ends_late_starts_needs_a_longer_budget(end: dict[str, Any]) -> None:
    pods = (a_pod(ready=False, **end),)
    found = diagnose(of_an_earlier_operator(a_plan()), Observed(pods=pods), a_deployment(), PATTERNS)
    assert found is not None
    assert found.reason == "StartupTimedOut"
    assert "spec.startup.timeoutSeconds" in found.message


GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "non-empty gates"}


def test_a_pod_that_a_queue_holds_back_waits_for_the_queue() -> None:
    found = diagnosis({"phase": "Pending", "conditions": [GATED]})
    assert (found.reason, found.self_healing) == ("Unschedulable", True)
    assert "non-empty gates" in found.message


def test_an_engine_that_serves_again_is_not_judged_by_an_old_end() -> None:
    again = running()
    again["containerStatuses"][0]["lastState"] = crashed(137, reason="OOMKilled")["containerStatuses"][0]["lastState"]
    assert diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **again),)), a_deployment(), ()) is None


def is_made(ready: bool, **condition: str) -> dict[str, Any]:
    """A pod whose engine runs and answers or not, with its Ready condition."""
    own = {"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-02T00:00:00Z", **condition}
    return {**running(ready=ready), "conditions": [own, {"type": "ContainersReady", "status": str(ready)}]}


def test_a_node_that_does_not_answer_is_named() -> None:
    found = diagnosis(is_made(ready=True))
    assert (found.reason, found.self_healing, found.since) == ("NodeLost", True, "2026-01-02T00:00:00Z")
    assert "kubectl describe node" in found.message


def test_an_engine_that_served_and_does_not_answer_is_named() -> None:
    found = diagnosis(is_made(ready=False, reason="ContainersNotReady"))
    assert (found.reason, found.self_healing, found.since) == ("EngineUnresponsive", True, "2026-01-02T00:00:00Z")


@pytest.mark.parametrize(
    "status",
    [
        is_made(ready=False, lastTransitionTime="2026-01-01T00:00:05Z"),
        is_made(ready=True, reason="ReadinessGatesNotReady"),
        running(started=False),
    ],
    ids=["not ready yet", "a readiness gate", "loading"],
)
def test_a_pod_that_starts_as_it_should_has_no_diagnosis(status: dict[str, Any]) -> None:
    assert diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **status),)), a_deployment(), ()) is None


def beside(*injected: dict[str, Any], before: bool = False, **engine: Any) -> dict[str, Any]:
    """A pod into which something put containers; statuses come by name, so theirs may stand first."""
    if before:
        return {"initContainerStatuses": list(injected), **engine}
    return {"containerStatuses": [*injected, *engine["containerStatuses"]]}


def a_failing(name: str, reason: str = "CrashLoopBackOff") -> dict[str, Any]:
    end = {"terminated": {"exitCode": 1, "message": "no route to vault"}}
    return {"name": name, "state": {"waiting": {"reason": reason}}, "lastState": end}


PROXY = {"name": "daprd", "state": {"running": {}}, "ready": True}


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        (beside(PROXY, **waiting("ImagePullBackOff", "not found")), "ImagePullFailed", "registry.example/engine:1"),
        (beside(PROXY, **crashed(1, "last words")), "CrashLooping", "last words"),
        (beside(a_failing("daprd"), **running(ready=True)), "CrashLooping", "container daprd"),
        (
            beside(a_failing("vault-agent-init"), before=True, **waiting("PodInitializing")),
            "CrashLooping",
            "no route to vault",
        ),
        (
            beside(a_failing("istio-init", "ImagePullBackOff"), before=True, **waiting("PodInitializing")),
            "ImagePullFailed",
            "container istio-init",
        ),
    ],
)
def test_injected_containers_are_told_from_the_engine(status: dict[str, Any], reason: str, says: str) -> None:
    found = diagnosis(status)
    assert found.reason == reason
    assert says in found.message


def evicted(name: str = "chat-0", created: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    pod = a_pod(name, ready=False, phase="Failed", reason="Evicted", message="low on memory")
    pod["metadata"]["creationTimestamp"] = created
    return pod


@pytest.mark.parametrize(
    ("text", "reason", "says"),
    [
        (
            (
                "The node was low on resource: ephemeral-storage. Threshold quantity: 2146223340, available: 1883424Ki."
                " Container engine was using 10304Ki, request is 0, has larger consumption of ephemeral-storage. "
            ),
            "DiskFull",
            "requests.ephemeral-storage",
        ),
        ("Pod ephemeral local storage usage exceeds the total limit of containers 10Gi. ", "DiskFull", "limits."),
        ('Usage of EmptyDir volume "cache" exceeds the limit "50Gi". ', "DiskFull", "pvc://"),
        ("The node had condition: [DiskPressure]. ", "DiskFull", "larger disk"),
        (
            "The node was low on resource: memory. Threshold quantity: 100Mi, available: 99Mi. ",
            "OutOfMemory",
            "requests.memory",
        ),
        ("The node had condition: [PIDPressure]. ", "ProcessLimitReached", "OMP_NUM_THREADS"),
        (
            (
                "Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices"
                " nvidia.com/gpu, which is unexpected"
            ),
            "GpuFaulty",
            "node",
        ),
        ("Preempting a pod of a lower priority", "NodeLost", "replaced"),
    ],
)
def test_an_eviction_names_what_ran_out(text: str, reason: str, says: str) -> None:
    """Texts of Kubernetes 1.34, pkg/kubelet/eviction/helpers.go; the first as in cloud-ark/kubeplus, issue 1382."""
    gone = evicted()
    gone["status"]["message"] = text
    pods = (gone, a_pod("chat-2", ready=False, phase="Pending", **waiting("ContainerCreating")))
    found = diagnose(a_plan(), Observed(pods=pods), a_deployment(), ())
    assert found is not None
    assert (found.reason, found.self_healing) == (reason, True)
    assert says in found.message


def test_our_own_estimate_of_a_context_is_told_where_the_engine_has_none() -> None:
    plan = a_plan()
    memory = LLAMACPP.capabilities.memory
    assert memory is not None
    setup = Setup(use=memory, max_model_len=8192, max_num_seqs=4, batched_tokens=512, utilization=1.0)
    fit = Verdict(outcome=Outcome.TIGHT, setup=setup, message="", largest_context=3072)
    pod = a_pod(ready=False, **crashed(1, "failed to allocate buffer for kv cache"))
    found = diagnose(dataclasses.replace(plan, fit=fit), Observed(pods=(pod,)), a_deployment(), LLAMACPP.log_patterns)
    assert found is not None
    assert (found.reason, "3072" in found.message) == ("KVCacheTooSmall", True)


LATER = "2026-01-01T00:10:00Z"


@pytest.mark.parametrize(("since", "reason"), [(LATER, "PodSandboxFailed"), ("2025-12-31T00:00:00Z", "NodeLost")])
def test_after_a_reboot_what_holds_up_the_next_run_is_named(since: str, reason: str) -> None:
    held_up = Preparation(reason="FailedCreatePodSandBox", warning="cni is not ready", since=since)
    assert diagnosis(crashed(255, reason="Unknown"), preparations={"chat-1": held_up}).reason == reason


def test_a_kubelet_that_was_started_again_does_not_bring_back_an_old_crash() -> None:
    status = is_made(ready=False, reason="ContainersNotReady")
    status["containerStatuses"][0] |= {"started": False, "lastState": {"terminated": {"exitCode": 137}}}
    assert diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **status),)), a_deployment(), ()) is None


@pytest.mark.parametrize(
    "state", [{"waiting": {"reason": "CrashLoopBackOff"}}, {"running": {}}, {"waiting": {"reason": "PodInitializing"}}]
)
def test_a_failing_sidecar_has_the_same_diagnosis_while_it_is_restarted(state: dict[str, Any]) -> None:
    container = {**a_failing("vault-agent-init"), "state": state}
    found = diagnosis(beside(container, before=True, **waiting("PodInitializing")))
    assert (found.reason, found.message.count("no route to vault")) == ("CrashLooping", 1)


@pytest.mark.parametrize(
    "container",
    [
        {**a_failing("proxy"), "state": {"running": {}}, "ready": True},
        {"name": "init", "ready": True, "state": {"terminated": {"exitCode": 0}}, "lastState": {}},
        {"name": "init", "ready": False, "state": {"running": {}}},
    ],
    ids=["a sidecar that recovered", "an init container that is done", "one that works"],
)
def test_a_sidecar_that_works_has_no_diagnosis(container: dict[str, Any]) -> None:
    status = beside(container, before=True, **waiting("PodInitializing"))
    assert diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **status),)), a_deployment(), ()) is None


@pytest.mark.parametrize(
    ("successor", "created", "is_told"),
    [
        (None, "", False),
        (waiting("ContainerCreating"), "2026-01-01T00:01:00Z", True),
        (waiting("ContainerCreating"), "2026-01-08T00:00:00Z", False),
        (running(started=False), "2026-01-01T00:01:00Z", False),
    ],
    ids=["of whatever day", "refused again and again", "of a later day", "loads"],
)
def test_a_pod_that_its_node_terminated_is_reported_until_its_replacement_starts_an_engine(
    successor: dict[str, Any] | None, created: str, is_told: bool
) -> None:
    pods = [evicted()]
    if successor is not None:
        pods.append(a_pod("chat-2", ready=False, phase="Pending", **successor))
        pods[-1]["metadata"]["creationTimestamp"] = created
    found = diagnose(a_plan(), Observed(pods=tuple(pods)), a_deployment(), ())
    assert (found is not None and found.reason == "NodeLost") == is_told


def test_prefers_an_exception_to_one_that_points_to_it() -> None:
    log = "RuntimeError: /dev/shm is full\nlater\nRuntimeError: Engine core failed. See root cause above.\nbye"
    assert "RuntimeError: /dev/shm is full; " in diagnosis(crashed(1, log)).message


def test_reads_the_cause_further_up_in_the_log() -> None:
    log = {"chat-1": "failed to open /models/m.gguf\n" + "noise\n" * 500}
    assert diagnosis(crashed(1, "noise"), log_tails=log).reason == "ModelNotFound"


def test_reads_what_a_container_that_is_not_made_waits_for() -> None:
    held_up = Preparation(reason="FailedMount", warning='configmap "templates" not found')
    assert diagnosis(waiting("ContainerCreating"), preparations={"chat-1": held_up}).reason == "ConfigMapNotFound"


def test_a_pod_that_is_being_created_has_no_diagnosis() -> None:
    pods = (a_pod(ready=False, **waiting("ContainerCreating")),)
    assert diagnose(a_plan(), Observed(pods=pods), a_deployment(), ()) is None


def test_ready_and_terminating_pods_have_no_diagnosis() -> None:
    leaving = a_pod("chat-2", ready=False, **crashed())
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert diagnose(a_plan(), Observed(pods=(a_pod(), leaving)), a_deployment(), ()) is None


def test_the_newest_pod_speaks_first() -> None:
    old, new = a_pod("old", ready=False, **crashed()), a_pod("new", ready=False, **waiting("ImagePullBackOff"))
    new["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z"
    found = diagnose(a_plan(), Observed(pods=(new, old)), a_deployment(), ())
    assert found is not None
    assert found.reason == "ImagePullFailed"


def test_pods_that_may_not_be_made_come_before_all_else() -> None:
    failure = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: none"}
    deployment = a_deployment(conditions=[failure])
    found = diagnose(a_plan(), Observed(pods=(a_pod(ready=False, **crashed()),)), deployment, ())
    assert found is not None
    assert (found.reason, "exceeded quota: none" in found.message) == ("PodsRefused", True)


def test_a_long_text_is_cut_and_fits_a_condition() -> None:
    assert len(diagnosis(crashed(1, "x" * 50_000)).message) < 1024


def test_a_pod_that_no_scheduler_looks_at_names_the_scheduler() -> None:
    plan = a_plan()
    plan = dataclasses.replace(plan, pod=dataclasses.replace(plan.pod, passthrough={"schedulerName": "nobody"}))
    found = diagnose(plan, Observed(pods=(a_pod(ready=False, phase="Pending"),)), a_deployment(), PATTERNS)
    assert found is not None
    assert (found.reason, found.self_healing) == ("Unschedulable", True)
    assert "nobody" in found.message
    assert "spec.pod.schedulerName" in found.message


def test_what_an_engine_says_is_repeated_without_its_secrets() -> None:
    said = diagnosis(crashed(1, "error: invalid argument: hf_PLANTEDPLANTED")).message
    assert "[hidden]" in said
    assert "PLANTED" not in said


@pytest.mark.parametrize(
    ("waits", "reason", "says"),
    [("ImagePullBackOff", "ImagePullFailed", "mirror"), ("CrashLoopBackOff", "CrashLooping", "kubectl logs -c proxy")],
)
def test_the_proxy_before_the_engine_is_ours_and_no_webhooks(waits: str, reason: str, says: str) -> None:
    status = beside(a_failing("proxy", waits), before=True, **waiting("PodInitializing"))
    pod = a_pod(ready=False, **status)
    found = diagnose(a_plan(proxy=a_proxy(keys=True)), Observed(pods=(pod,)), a_deployment(), PATTERNS)
    assert found is not None
    assert (found.reason, says in found.message, "webhook" in found.message) == (reason, True, False)
    foreign = diagnosis(status)
    assert "webhook" in foreign.message
