"""A plan and its pods, valid by default: what the tests of converging look at."""

import dataclasses
from datetime import UTC, datetime, timedelta
from typing import Any

from llmservice.engines.engine import HttpProbe, Probes
from llmservice.planning.pod_plan import ContainerPlan, PodPlan
from llmservice.planning.service_plan import Owner, RolloutPlan, ServicePlan

_PROBE = HttpProbe(path="/health", period_seconds=5, timeout_seconds=5, failures=3)
_PATIENT = HttpProbe(path="/health", period_seconds=5, timeout_seconds=5, failures=34_560)


def a_plan(**changes: Any) -> ServicePlan:
    """The plan of LLMService ml/chat, generation 2, on one L4."""
    plan = ServicePlan(
        owner=Owner(namespace="ml", name="chat", uid="u-1", generation=2),
        engine="llamacpp",
        engine_version="b11312",
        model="pvc://models/tiny.gguf",
        names=("chat",),
        quantization="auto",
        accelerator="L4",
        devices=1,
        resource_name="nvidia.com/gpu",
        max_model_len=4096,
        max_num_seqs=4,
        container=ContainerPlan(
            image="registry.example/engine:1",
            pull_policy="IfNotPresent",
            command=(),
            args=("--port", "8000"),
            environment=(),
            probes=Probes(startup=_PATIENT, readiness=_PROBE, liveness=_PROBE),
            startup_seconds=600,
            pre_stop=(),
            resource_requests={},
            resource_limits={"nvidia.com/gpu": "1", "memory": "8Gi"},
        ),
        pod=PodPlan(
            labels={},
            annotations={},
            mounts=(),
            node_terms=(),
            tolerations=(),
            security={},
            container_security={},
            passthrough={},
            termination_grace_seconds=60,
            drained_by_seconds=35,
        ),
        rollout=RolloutPlan(max_surge=0, max_unavailable=1, progress_deadline_seconds=900),
        replica_bound=1,
        scaling=None,
        admitted=None,
        render_version=1,
        pod_security="restricted",
        defaults=(),
        notes=(),
        facts="{}",
    )
    return dataclasses.replace(plan, **changes)


def of_an_earlier_operator(plan: ServicePlan) -> ServicePlan:
    """The same plan, with a startup probe that ends a start when its budget is used up."""
    startup = dataclasses.replace(_PATIENT, failures=plan.container.startup_seconds // _PATIENT.period_seconds)
    probes = dataclasses.replace(plan.container.probes, startup=startup)
    return dataclasses.replace(plan, container=dataclasses.replace(plan.container, probes=probes))


def a_pod(name: str = "chat-1", *, ready: bool = True, **status: Any) -> dict[str, Any]:
    """A pod of the workload; `status` adds to its status."""
    ready_text = "True" if ready else "False"
    return {
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready_text}], **status},
    }


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    """Container statuses of a pod whose engine waits for this reason."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"containerStatuses": [{"name": "engine", "state": state, "restartCount": 0}]}


def crashed(exit_code: int = 1, message: str = "", reason: str = "Error", *, ran_seconds: int = 5) -> dict[str, Any]:
    """Container statuses of a pod whose engine ended after so many seconds and is to be started again."""
    began = datetime(2026, 1, 1, tzinfo=UTC)
    end = {
        "exitCode": exit_code,
        "reason": reason,
        "message": message,
        "startedAt": f"{began:%Y-%m-%dT%H:%M:%SZ}",
        "finishedAt": f"{began + timedelta(seconds=ran_seconds):%Y-%m-%dT%H:%M:%SZ}",
    }
    status = {
        "name": "engine",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": end},
        "restartCount": 2,
        "started": False,
    }
    return {"containerStatuses": [status]}


def running(*, started: bool = True, ready: bool = False, since: str = "2026-01-01T00:00:10Z") -> dict[str, Any]:
    """Container statuses of a pod whose engine runs."""
    state = {"running": {"startedAt": since}}
    return {"containerStatuses": [{"name": "engine", "state": state, "started": started, "ready": ready}]}


def unscheduled(message: str) -> dict[str, Any]:
    """Status of a pod that the scheduler cannot place."""
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    return {"phase": "Pending", "conditions": [condition]}


def a_deployment(
    desired: int = 1, *, total: int | None = None, updated: int | None = None, **more: Any
) -> dict[str, Any]:
    """The Deployment as its controller reports it; all of the current template unless said otherwise."""
    total = desired if total is None else total
    return {
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "ml", "uid": "d-1", "generation": 3},
        "spec": {"replicas": desired},
        "status": {
            "observedGeneration": 3,
            "replicas": total,
            "updatedReplicas": total if updated is None else updated,
            **more,
        },
    }
