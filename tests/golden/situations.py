"""What users may find themselves in: one of every kind that has a sentence of its own."""

import dataclasses
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from llmservice.api.v1alpha1.conditions import ConditionType, Reason
from llmservice.catalog.loader import load_catalogue
from llmservice.converging.accelerator_in_use import accelerator_in_use
from llmservice.converging.additions import modified_condition
from llmservice.converging.conditions import Condition
from llmservice.converging.contest import contest
from llmservice.converging.diagnosis import Diagnosis
from llmservice.converging.evictions import EVICTIONS
from llmservice.converging.giving_up import judge
from llmservice.converging.intent import with_digest
from llmservice.converging.missing import MISSING
from llmservice.converging.observed import Observed
from llmservice.converging.pod_checks import diagnose
from llmservice.converging.preparation import Preparation
from llmservice.converging.progress import progress_of
from llmservice.converging.revisions import Failed, InForce, Served
from llmservice.converging.situation import Situation
from llmservice.converging.status import summarize
from llmservice.converging.taken_names import name_conflict
from llmservice.converging.updates import update_condition
from llmservice.engines.start_report import StartReport
from llmservice.errors import InvalidSpec
from llmservice.objects.references import Manifest, ref_of
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.service_plan import Owner, ServicePlan
from llmservice.rendering.manifests import render
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
from tests.unit.models.models import known
from tests.unit.planning.fit.setups import usual
from tests.unit.planning.planned import HUB, L4, planned, refused

_NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_LATER = "2026-01-02T00:00:00Z"


def _options(engine: str, *args: str) -> dict[str, Any]:
    return {**HUB, "spec__engine": engine, "spec__gpu": L4["spec__gpu"], "spec__engineOptions": {"args": list(args)}}


_A_BACKEND = {"name": "VLLM_ATTENTION_BACKEND", "value": "FLASHINFER"}
_THRESHOLD = {"maxReplicas": 2, "policy": "Threshold", "targets": {"kvCachePercent": 50}}
_CONFIG = {"configMapKeyRef": {"name": "templates", "key": "chat"}}

UNPLANNABLE: tuple[Callable[[], InvalidSpec], ...] = tuple(
    partial(refused, **changes)
    for changes in (
        {"spec__engine": "llamacp"},
        {"spec__engine": "other"},
        {"spec__engineOptions": {"version": "b1"}},
        {"spec__gpu": {"type": "L44"}},
        {"spec__gpu": {"type": "A100"}},
        {**HUB, "spec__model__revision": "main"},
        {"spec__model__trustRemoteCode": True},
        {"spec__dtype": "float16"},
        {"spec__model__uri": "hf://a/b", "spec__engine": "vllm", "spec__gpu": {"type": "L4", "offloadLayers": 20}},
        {"spec__model__uri": "hf://a/b", "spec__engine": "vllm", "spec__model__file": "a.gguf"},
        {"spec__quantization": "q4_k_m"},
        {"spec__quantization": "awq"},
        {"spec__model__uri": "s3://bucket/a"},
        {"spec__kvCacheDtype": "fp8"},
        {"spec__model__uri": "pvc://models/chat"},
        {"spec__model__file": "other.gguf"},
        {"spec__model__uri": "pvc://models/chat", "spec__model__file": "*.gguf"},
        {"spec__quantization": "Q4_K_M", "spec__model__uri": "pvc://models/a-Q8_0.gguf"},
        {"spec__autoscaling": _THRESHOLD},
        {**HUB, "spec__gpu": {"type": "Gaudi3"}},
        {"spec__engineOptions": {"files": [{"path": "/models/a", **_CONFIG}]}},
        {"spec__engineOptions": {"files": [{"path": "/cache", **_CONFIG}]}},
        {"spec__engineOptions": {"env": [{"name": "LLAMA_API_KEY", "value": "x"}]}},
        {**_options("tgi"), "spec__maxModelLen": 1},
        {**_options("tgi"), "spec__kvCacheDtype": "fp8"},
        {**_options("tgi"), "spec__dtype": "float16", "spec__quantization": "online-int8"},
        {**_options("tgi"), "spec__gpu__count": 2, "spec__quantization": "exl2"},
        {**_options("tgi"), "spec__engineOptions": {"image": "own/image:1", "version": "3.3.7"}},
        _options("llamacpp", "--port", "1"),
        _options("llamacpp", "--threads=1"),
        _options("vllm", "--$(FLAG)=1"),
        _options("vllm", "-qawq"),
        _options("vllm", "-ncc4096"),
        _options("vllm", "--swap-space=4"),
        _options("tgi", "--a b"),
        _options("tgi", "-exyz"),
        _options("vllm", "--num-scheduler-steps=8", "--enable-prefix-cachin", "--enforce-eager", "true", "--seed"),
        _options("vllm", "--enable", "--max-logprobs 5"),
        _options("vllm", "stray", "--enforce-eager=true", "--max-logprobs", "5", "6"),
        _options("vllm", "--quantization=fp8", "--quantization", "awq", "-dp", "2", "-pp", "2"),
        {**_options("vllm"), "spec__engineOptions__env": [_A_BACKEND, {"name": "VLLM_USE_MODELSCOPE", "value": "1"}]},
        {**_options("vllm"), "spec__engineOptions__env": [{"name": "VLLM_USE_V1", "value": "1"}]},
        {**_options("vllm", "--watermark-config=1", "--max-modellen=8"), "spec__engineOptions__version": "0.10.2"},
        _options("llamacpp", "-fa"),
        _options("llamacpp", "-fa", "-b", "512", "--mlock", "--contol-vector-layer-range", "1"),
        _options("llamacpp", "--control-vector-layer-range", "1"),
        _options("llamacpp", "-ngl", "20"),
        _options("llamacpp", "-ngl", "99"),
        _options("llamacpp", "-ngl", "0"),
        _options("tgi", "--quantize", "eetq", "--json-output", "true"),
    )
)


def _mismatch(quantization: str, facts: dict[str, str]) -> dict[str, Any]:
    """A quantization that is not the checkpoint's."""
    return {"spec__gpu": {"type": "L4"}, "spec__quantization": quantization, "spec__model__facts": facts}


_CHAT: dict[str, Any] = {"spec__engine": "vllm", "spec__model__uri": "hf://acme/chat-7B"}

UNPLANNABLE += tuple(
    partial(refused, **{**_CHAT, **changes})
    for changes in (
        {"spec__gpu": {"type": "V100-32GB"}},
        {"spec__gpu": {"type": "P100"}},
        {"spec__gpu": {"type": "Radeon-Pro-V520"}},
        {"spec__gpu": {"type": "T4"}, "spec__dtype": "bfloat16", "spec__quantization": "online-nvfp4"},
        {"spec__gpu": {"type": "L4"}, "spec__quantization": "bitsandbytes"},
        {"spec__gpu": {"type": "T4"}, "spec__model__facts": {"quantization": "mxfp4"}},
        _mismatch("fp8", {"dtype": "bfloat16"}),
        _mismatch("awq", {"dtype": "bfloat16"}),
        _mismatch("gptq", {"quantization": "awq"}),
        _mismatch("online-fp8", {"quantization": "awq"}),
        {"spec__gpu": {"type": "L4", "shared": True, "count": 2}},
        {"spec__gpu": {"type": "MI300X"}, "spec__quantization": "online-int8"},
        {"spec__model__uri": "s3://bucket/a", "spec__engineOptions": {"version": "0.24.0"}},
        {"spec__pod__nodeSelector": {"kubernetes.io/arch": "arm64"}},
        {"spec__gpu": {"type": "MI300X"}, "spec__engineOptions": {"version": "0.10.2"}},
        {"spec__engine": "tgi", "spec__gpu": {"type": "B200"}},
        {"spec__engine": "tgi", "spec__gpu": {"type": "GH200"}},
        {"spec__engine": "tgi", "spec__gpu": {"type": "L4"}, "spec__model__uri": "pvc://weights/hub?repo=acme/chat"},
        {"spec__engine": "tgi", "spec__gpu": {"type": "L4"}, "spec__model__uri": "gs://bucket/chat"},
        {"spec__gpu": {"type": "L4"}, "spec__model__cache": {"claim": {}}},
        {
            "spec__engine": "llamacpp",
            "spec__model__uri": "s3://bucket/chat.gguf",
            "spec__model__file": "other.gguf",
            "spec__model__cache": {"claim": {"name": "weights"}},
        },
    )
)


NOTED: tuple[Callable[[], ServicePlan], ...] = tuple(
    partial(planned, **{**_CHAT, **changes})
    for changes in (
        {"spec__gpu": {"type": "L4"}},
        {"spec__gpu": {"type": "L4"}, "spec__model__cache": {"claim": {"name": "weights"}}},
        {"spec__gpu": {"type": "L4"}, "spec__model__uri": "oci://registry.example.com/chat:1"},
        {"spec__gpu": {"type": "Arc-Pro-B60"}},
        {"spec__gpu": {"type": "B999", "resourceName": "nvidia.com/gpu"}},
        {"spec__engine": "tgi", "spec__gpu": {"type": "L4"}, "spec__engineOptions": {"version": "3.3.7"}},
        {
            "spec__gpu": {"type": "V100-32GB"},
            "spec__dtype": "bfloat16",
            "spec__engineOptions": {"image": "registry.example/vllm:1", "version": "0.33.0"},
        },
    )
)


def _diagnosis(
    *pods: Manifest, plan: ServicePlan | None = None, deployment: Manifest | None = None, **seen: Any
) -> Diagnosis:
    found = diagnose(plan or a_plan(), Observed(pods=pods, **seen), deployment or a_deployment(), ())
    if found is None:
        raise AssertionError(pods)
    return found


def _unready(**status: Any) -> Manifest:
    return a_pod(ready=False, **status)


def _served(*, ready: bool) -> Manifest:
    own = {"type": "Ready", "status": "False", "lastTransitionTime": _LATER}
    pod = _unready(**running(ready=ready), conditions=[own, {"type": "ContainersReady", "status": str(ready)}])
    return {**pod, "spec": {"nodeName": "worker-1"}}


def _gated() -> Manifest:
    condition = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated", "message": "non-empty gates"}
    return _unready(phase="Pending", conditions=[condition])


def _with_sidecar() -> Manifest:
    end = {"terminated": {"exitCode": 1, "message": "no route to vault"}}
    sidecar = {"name": "vault-agent", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": end}
    return _unready(initContainerStatuses=[sidecar], **waiting("PodInitializing"))


def _proxy_fails(reason: str) -> Diagnosis:
    end = {"terminated": {"exitCode": 1, "message": "haproxy: not found"}}
    proxy = {"name": "proxy", "state": {"waiting": {"reason": reason, "message": "not found"}}, "lastState": end}
    plan = planned(spec__auth={"keysSecretRef": {"name": "clients"}})
    return _diagnosis(_unready(initContainerStatuses=[proxy], **waiting("PodInitializing")), plan=plan)


def _prepared(reason: str, warning: str) -> Diagnosis:
    preparation = Preparation(reason=reason, warning=warning, since=_LATER)
    return _diagnosis(_unready(**waiting("ContainerCreating")), preparations={"chat-1": preparation})


def _unscheduled_by(scheduler: str) -> Diagnosis:
    plan = a_plan()
    plan = dataclasses.replace(plan, pod=dataclasses.replace(plan.pod, passthrough={"schedulerName": scheduler}))
    return _diagnosis(_unready(phase="Pending"), plan=plan)


def _evicted() -> Diagnosis:
    gone = a_pod("chat-0", ready=False, phase="Failed", reason="Evicted", message="low on memory")
    return _diagnosis(gone, _unready(phase="Pending", **waiting("ContainerCreating")))


def _without_limit() -> ServicePlan:
    plan = a_plan()
    return dataclasses.replace(plan, container=dataclasses.replace(plan.container, resource_limits={}))


_QUOTA = {"type": "ReplicaFailure", "status": "True", "message": "exceeded quota: gpus"}

DIAGNOSES: tuple[Diagnosis, ...] = (
    _diagnosis(_unready(), deployment=a_deployment(conditions=[_QUOTA])),
    _unscheduled_by("volcano"),
    _diagnosis(_gated()),
    _diagnosis(_unready(**unscheduled("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."))),
    _diagnosis(_unready(**unscheduled("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity."))),
    _diagnosis(_unready(**waiting("InvalidImageName"))),
    _diagnosis(_unready(**waiting("ImagePullBackOff", "manifest unknown"))),
    _diagnosis(_unready(**waiting("CreateContainerError", "no such device"))),
    _prepared("FailedMount", "no such file"),
    _prepared("FailedCreatePodSandBox", 'no runtime for "nvidia" is configured'),
    _diagnosis(_unready(**crashed(137, reason="OOMKilled"))),
    _diagnosis(_unready(**crashed(137, reason="OOMKilled")), plan=_without_limit()),
    _diagnosis(_unready(**crashed(137, ran_seconds=172_830))),
    _diagnosis(_unready(**crashed(137, ran_seconds=630)), plan=of_an_earlier_operator(a_plan())),
    _diagnosis(_unready(**crashed(137, ran_seconds=604_800))),
    _diagnosis(_unready(**crashed(137, ran_seconds=9))),
    _diagnosis(_unready(**crashed(132))),
    _diagnosis(_unready(**crashed(135))),
    _diagnosis(_unready(**crashed(139))),
    _diagnosis(_unready(**unscheduled("0/1 nodes are available: 1 Insufficient memory."))),
    _diagnosis(_unready(**unscheduled("0/1 nodes: 1 had untolerated taint {node.kubernetes.io/disk-pressure: }."))),
    _diagnosis(_unready(**waiting("ErrImagePull", "write /var/lib/containerd/x: no space left on device"))),
    _diagnosis(_unready(**crashed(255, reason="Unknown"))),
    _diagnosis(_unready(**crashed(1, "line\nlast words"))),
    _diagnosis(_unready(**crashed(0))),
    _diagnosis(_with_sidecar()),
    _proxy_fails("ImagePullBackOff"),
    _proxy_fails("CrashLoopBackOff"),
    _diagnosis(_served(ready=True)),
    _diagnosis(_served(ready=False)),
    _evicted(),
    *(
        Diagnosis(reason=missing.reason, message=missing.remedy, self_healing=True)  # with its placeholders
        for missing in MISSING
    ),
    *(
        Diagnosis(reason=each.reason, message=f"{each.cause}: …; {each.remedy}", self_healing=True)
        for each in EVICTIONS
    ),
)


def _status(deployment: Manifest | None, *pods: Manifest, **changes: Any) -> Iterator[Condition]:
    known: dict[str, Any] = {"diagnosis": None, "suspended": False, "floor": 1, "before": {}}
    progress = progress_of(deployment, pods)
    status = summarize(Situation(plan=a_plan(), progress=progress, pods=pods, **{**known, **changes}), _NOW)
    return (
        Condition(
            type=ConditionType(item["type"]),
            status={"True": True, "False": False}.get(item["status"]),
            reason=Reason(item["reason"]),
            message=item["message"],
        )
        for item in status["conditions"]
    )


_FIELDS: Manifest = {"f:spec": {"f:containers": {'k:{"name":"engine"}': {"f:image": {}}}}}
_INTENT: Manifest = {
    "kind": "Deployment",
    "metadata": {"name": "chat"},
    "spec": {"containers": [{"name": "engine", "image": "a"}]},
}


def _live(*managers: str, image: str = "b") -> Manifest:
    entries = [{"manager": manager, "operation": "Update", "fieldsV1": _FIELDS} for manager in managers]
    metadata = {"name": "chat", "managedFields": entries}
    return {"kind": "Deployment", "metadata": metadata, "spec": {"containers": [{"name": "engine", "image": image}]}}


_CONTESTS = (
    contest(None, _INTENT, None),
    contest(_live("keel"), _INTENT, None),
    contest(_live("llmservice-operator"), _INTENT, None),
    contest(_live(), _INTENT, None),
    contest(_live("keel", image="a"), _INTENT, None),
    contest(_live("keel"), _INTENT, ("spec", "containers", ("engine",), "image")),
)


def _contested() -> Iterator[Condition]:
    for text in _CONTESTS:
        if condition := modified_condition({}, (), [text]):
            yield condition


def _added() -> Iterator[Condition]:
    intents = render(planned(), 1)
    for intent in intents:
        live = {**intent, "spec": {**intent["spec"]}}
        if intent["kind"] == "Service":
            live["spec"]["ports"] = [*intent["spec"]["ports"], {"port": 9, "protocol": "UDP"}]
        elif intent["kind"] == "Deployment":
            pod = intent["spec"]["template"]["spec"]
            engine = {**pod["containers"][0], "env": [*pod["containers"][0]["env"], {"name": "DEBUG", "value": "1"}]}
            more = {**pod, "containers": [engine, {"name": "istio-proxy"}], "initContainers": [{"name": "istio-init"}]}
            live["spec"]["template"] = {**intent["spec"]["template"], "spec": more}
        if condition := modified_condition({ref_of(live): live}, [intent], ()):
            yield condition


def _updated() -> Iterator[Condition]:
    plan = planned()
    newest = _with_another_image(plan)
    if condition := update_condition(plan, newest):
        yield condition
    if condition := update_condition(dataclasses.replace(plan, render_version=99), None):
        yield condition


def _with_another_image(plan: ServicePlan) -> ServicePlan:
    """The same plan with another image."""
    return dataclasses.replace(plan, container=dataclasses.replace(plan.container, image="registry.example/engine:2"))


def _taken(**metadata: Any) -> Manifest:
    return {"kind": "Service", "metadata": {"name": "chat", "namespace": "ml", **metadata}}


_PREDICTED = check_fit(
    known("meta-llama/Llama-3.1-8B-Instruct"), load_catalogue().accelerator("L4"), usual("vllm", 256)
)


def _on_devices() -> Iterator[Condition]:
    """What is said of engines that use their devices, or leave them idle."""
    plan, pods = a_plan(), [a_pod("chat-1", **running()), a_pod("chat-2", **running())]
    cuda = StartReport(
        backend="cuda",
        devices=("CUDA0 (NVIDIA L4)",),
        device_count=1,
        offloaded_layers=33,
        layers=33,
        kv_bytes=13_207_024_435,
        full_length_requests=3.5,
        request_tokens=8192,
    )
    partly = dataclasses.replace(cuda, offloaded_layers=20)
    two = StartReport(backend="cuda", device_count=2, kv_bytes=2**32, full_length_requests=2.0, request_tokens=8192)
    for reports in (
        {"chat-1": cuda},
        {"chat-1": two},
        {"chat-1": StartReport(backend="gpu", kv_tokens=131_072)},
        {"chat-1": cuda, "chat-2": StartReport(backend="cpu")},
        {"chat-1": partly},
        {"chat-1": StartReport()},
        {},
    ):
        if condition := accelerator_in_use(plan, pods, reports, _PREDICTED):
            yield condition
    if condition := accelerator_in_use(a_plan(offload_layers=20), pods, {"chat-1": partly}):
        yield condition


def _conflicts() -> Iterator[Condition]:
    owners = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u-1", "controller": True}]
    for live in (
        _taken(),
        _taken(ownerReferences=owners),
        _taken(deletionTimestamp=_LATER),
        with_digest(_taken(labels={"llmservice.dev/name": "chat"})),
    ):
        told = name_conflict(Owner(namespace="ml", name="chat", uid="u-2", generation=1), {ref_of(live): live})
        yield Condition(type=ConditionType.READY, status=False, reason=Reason.NAME_CONFLICT, message=told.message)


def _rolled_back() -> Iterator[Condition]:
    """A change that failed: the moment in which it is given up, the way back, and what serves or does not."""
    said = "image registry.example/engine:2 cannot be pulled: manifest unknown; check its name"
    failed = Failed(generation=2, digest="2", reason=Reason.IMAGE_PULL_FAILED, message=said, at=_LATER)
    newest = {"metadata": {"generation": 2}, "spec": {}}
    given_up = InForce(body=newest, newest=newest, served=Served(generation=1, digest="1"), failed=failed)
    back = dataclasses.replace(given_up, source="what served")
    loads = _unready(containerStatuses=[{"name": "engine", "state": {"running": {}}}])
    lost = _diagnosis(_unready(**waiting("CreateContainerConfigError", 'secret "words" not found')))
    yield from _status(a_deployment(2, updated=1), a_pod(), revision=given_up)
    yield from _status(a_deployment(), loads, revision=back)
    yield from _status(a_deployment(), _unready(), revision=back, diagnosis=lost)
    yield from _status(a_deployment(2), a_pod(), a_pod("b"), revision=back, floor=2)
    late = progress_of(a_deployment(conditions=[_LATE]), ())
    for pods in ((loads,), (_unready(),), ()):
        told = judge(late, pods, None, _NOW)
        if told.reason:
            yield Condition(type=ConditionType.STALLED, status=True, reason=told.reason, message=told.message)


_LATE = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}


def _waits(**ready: str) -> Manifest:
    pod = a_pod(ready=False, containerStatuses=[{"name": "engine", "ready": True, "state": {"running": {}}}])
    pod["status"]["conditions"][0] |= ready
    return pod


CONDITIONS: tuple[Condition, ...] = (
    *_status(None),
    *_status(a_deployment(), a_pod()),
    *_status(a_deployment(2), a_pod(), a_pod("b", ready=False, containerStatuses=[{"name": "engine", "state": {}}])),
    *_status(a_deployment(), _unready(containerStatuses=[{"name": "engine", "state": {"running": {}}}])),
    *_status(a_deployment(), _waits(message="sidecars not ready: [istio-proxy]")),
    *_status(a_deployment(0), suspended=True),
    *_status(a_deployment(0, total=1), a_pod(), suspended=True),
    *_status(a_deployment(0, total=2), a_pod(), a_pod("b"), suspended=True),
    *_status(a_deployment(0), floor=0),
    *_contested(),
    *_added(),
    *_updated(),
    *_on_devices(),
    *_rolled_back(),
    *_conflicts(),
)
