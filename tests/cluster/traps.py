"""Resources made by hand to trip an operator up: names, bounds, spellings, injections, depth, circles."""

from typing import Any

from tests.builders import with_changes
from tests.cluster.generated import Case
from tests.cluster.services import a_tiny_service

ENV = "spec__engineOptions__env"
ARGS = "spec__engineOptions__args"
FILES = "spec__engineOptions__files"
HUGE = "x" * 1_000_000
DEEP: Any = "end"
for _ in range(400):
    DEEP = [DEEP]
SETTLES = ""
SECRET = {"secretKeyRef": {"name": "s", "key": "k"}}

NAMES = {
    "kubernetes": SETTLES,  # a Service of this name stands in the way: the test made it
    "7b-chat": "metadata.name",
    "qwen2.5-7b": "metadata.name",
    "a" * 50: SETTLES,
    "a" * 51: "metadata.name",
    "a": SETTLES,
    "a-": "metadata.name",
    "chat_1": "metadata.name",
    "Chat": "metadata.name",
    "chät": "metadata.name",
    "": "name",
    "a" * 254: "metadata.name",
    "default": SETTLES,
    "none": SETTLES,
    "true": SETTLES,
    "null": SETTLES,
}
"""Names, and the field that the refusal must name."""

SPECS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"spec": None}, "spec"),
    ({"spec": []}, "spec"),
    ({"spec": "engine: llamacpp"}, "spec"),
    ({"spec__engine": "LLAMACPP"}, "spec.engine"),
    ({"spec__engine": "llamacpp "}, "spec.engine"),
    ({"spec__engine": "__import__('os')"}, "spec.engine"),
    ({"spec__engine": HUGE}, "spec.engine"),
    ({"spec__model__uri": f"hf://{HUGE}/a"}, "spec.model.uri"),
    ({"spec__model__uri": f"pvc://models/{'a/' * 500}b"}, SETTLES),
    ({"spec__model__uri": "pvc://models/a;rm -rf /"}, "spec.model.uri"),
    ({"spec__model__uri": "pvc://models/$(HOME)/`id`.gguf"}, "spec.model.uri"),
    ({"spec__model__uri": "pvc://models/`id`.gguf"}, SETTLES),
    ({"spec__model__uri": "pvc://models/--help"}, SETTLES),
    ({"spec__model__uri": "pvc://models/-m"}, SETTLES),
    ({"spec__model__uri": "pvc://../../etc/passwd"}, "spec.model.uri"),
    ({"spec__model__uri": "pvc://models/%2e%2e/etc"}, SETTLES),
    ({"spec__model__uri": "hf://a/b", "spec__model__file": "*" * 500}, SETTLES),
    ({"spec__model__uri": "hf://a/b", "spec__model__file": "[!-]{1..99}?.gguf"}, SETTLES),
    ({"spec__model__names": ["a", "a"]}, "spec.model.names"),
    ({"spec__model__names": ["--api-key"]}, "spec.model.names"),
    ({"spec__model__names": ["a:b/c"] * 17}, "spec.model.names"),
    ({"spec__gpu": {"type": "nvidia-h100; DROP TABLE"}}, "spec.gpu.type"),
    ({"spec__gpu": {"type": "h100"}}, SETTLES),
    ({"spec__gpu": {"type": "x" * 63}}, SETTLES),
    ({"spec__gpu": {"resourceName": "example.com/a", "count": 64}}, SETTLES),
    ({"spec__gpu": {"resourceName": "cpu/cpu"}}, SETTLES),
    ({"spec__gpu": {"resourceName": "kubernetes.io/hostname"}}, SETTLES),
    ({"spec__gpu": {"resourceName": "requests.nvidia.com/gpu"}}, SETTLES),
    ({"spec__gpu": {"resourceName": "hugepages-2Mi/a"}}, "spec.gpu.resourceName"),
    ({"spec__gpu": {"resourceName": f"a.{'b' * 250}/c"}}, SETTLES),
    ({"spec__maxModelLen": 1, "spec__maxNumSeqs": 8192}, SETTLES),
    ({"spec__maxModelLen": 2**24, "spec__maxNumSeqs": 8192}, SETTLES),
    ({"spec__maxModelLen": 2**24 + 1}, "spec.maxModelLen"),
    ({"spec__maxModelLen": 1e3}, SETTLES),
    ({"spec__maxNumSeqs": 2**63 - 1}, "spec.maxNumSeqs"),
    ({"spec__replicas": 1000}, SETTLES),
    ({"spec__replicas": 2**31}, "spec.replicas"),
    ({"spec__startup__timeoutSeconds": 86400}, SETTLES),
    ({"spec__startup__timeoutSeconds": 9}, "spec.startup.timeoutSeconds"),
    ({"spec__drain__timeoutSeconds": 0}, SETTLES),
    ({"spec__drain__timeoutSeconds": 3600}, SETTLES),
    ({"spec__rollout__strategy": "surge"}, "spec.rollout.strategy"),
    ({"spec__quantization": "q4-k-m"}, SETTLES),
    ({"spec__quantization": "AUTO"}, SETTLES),
    ({"spec__dtype": "Float16"}, "spec.dtype"),
    ({ARGS: ["--port=1", "--PORT", "-m", "--model_path=/"]}, SETTLES),
    ({ARGS: ["; curl evil", "$(id)", "`id`", "&& true", "|", "\n", "'", '"', "\\", "\x00"]}, SETTLES),
    ({ARGS: ["--a=" + "b" * 8000] * 128}, "spec"),
    ({ARGS: ["--a=" + "b" * 1700] * 12}, SETTLES),
    ({ARGS: ["a"] * 129}, "spec.engineOptions.args"),
    ({ARGS: [""] * 128}, SETTLES),
    ({ARGS: DEEP}, "spec.engineOptions.args"),
    ({ARGS: [{"$ref": "#"}]}, "spec.engineOptions.args"),
    ({ARGS: "--threads 2"}, "spec.engineOptions.args"),
    ({ENV: [{"name": "A", "value": "$(B)"}, {"name": "B", "value": "$(A)"}]}, SETTLES),
    ({ENV: [{"name": "A", "value": "$(A)"}]}, SETTLES),
    ({ENV: [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]}, "spec.engineOptions.env"),
    ({ENV: [{"name": "A", "value": "1", "valueFrom": SECRET}]}, "spec.engineOptions.env"),
    ({ENV: [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "spec.schedulerName"}}}]}, "spec.engineOptions.env"),
    ({ENV: [{"name": "A=B", "value": "1"}]}, "spec.engineOptions.env"),
    ({ENV: [{"name": "LD_PRELOAD", "value": "/models/a.so"}]}, SETTLES),
    ({ENV: [{"name": "A", "value": "é" * 16_000}]}, SETTLES),
    ({ENV: [{"name": f"V{number}", "value": "v" * 10_000} for number in range(128)]}, "spec"),
    ({ENV: [{"name": f"V{number}", "value": "v" * 2_000} for number in range(10)]}, SETTLES),
    ({FILES: [{"path": "/etc/passwd", **SECRET}]}, SETTLES),
    ({FILES: [{"path": "/a/../etc/passwd", **SECRET}]}, "spec.engineOptions.files"),
    ({FILES: [{"path": "/a", **SECRET}, {"path": "/a/b", **SECRET}]}, SETTLES),
    ({FILES: [{"path": "/dev/shm", **SECRET}]}, SETTLES),  # noqa: S108
    ({FILES: [{"path": "/models/a", **SECRET}, {"path": "/var/a", **SECRET}]}, SETTLES),
    ({"spec__pod__labels": {"llmservice.dev/name": "other", "app.kubernetes.io/name": "x"}}, "spec.pod.labels"),
    ({"spec__pod__labels": {"a": ""}, "spec__pod__annotations": {"a": "\n" * 16_000}}, SETTLES),
    ({"spec__pod__labels": {"": "a"}}, "spec.pod.labels"),
    ({"spec__pod__labels": {"a b": "c"}}, "spec.pod.labels"),
    ({"spec__pod__labels": {f"k{number}": "v" for number in range(65)}}, "spec.pod.labels"),
    ({"spec__pod__annotations": {"a.b.c.d..e/f": "v"}}, "spec.pod.annotations"),
    ({"spec__pod__nodeSelector": {"kubernetes.io/hostname": "nowhere"}, "spec__suspend": False}, SETTLES),
    ({"spec__pod__schedulerName": "nobody", "spec__suspend": False}, SETTLES),
    ({"spec__pod__serviceAccountName": "nobody", "spec__suspend": False}, SETTLES),
    ({"spec__pod__priorityClassName": "nobody", "spec__suspend": False}, SETTLES),
    ({"spec__pod__runtimeClassName": "nobody", "spec__suspend": False}, SETTLES),
    ({"spec__pod__securityContext": {"runAsUser": 0}}, "spec.pod.securityContext.runAsUser"),
    ({"spec__pod__resources": {"requests": {"memory": "9Gi"}, "limits": {"memory": "1Gi"}}}, "spec.pod.resources"),
    ({"spec__pod__resources": {"limits": {"cpu": "1e-9"}}}, SETTLES),
    ({"spec__pod__resources": {"limits": {"memory": "1e400"}}}, "spec.pod.resources"),
    ({"spec__pod__resources": {"limits": {"nvidia.com/gpu": "1"}}}, "spec.pod.resources"),
    ({"spec__pod__hostNetwork": True}, "spec.pod.hostNetwork"),
    ({"spec__pod__containers": [{"name": "a"}]}, "spec.pod.containers"),
    ({"spec__pod__affinity": {"nodeAffinity": DEEP}}, "spec.pod.affinity"),
    ({"spec__suspend": "yes"}, "spec.suspend"),
    ({"spec__suspend": None, "spec__engineOptions__image": "nowhere.invalid/a:b"}, "spec.engineOptions"),
    ({"spec__modle": {}}, "spec.modle"),
    ({"status": {"conditions": "none"}}, SETTLES),
    ({"metadata__labels": {"a b": "c"}}, "metadata.labels"),
    ({"metadata__finalizers": ["not a finalizer"]}, "metadata.finalizers"),
    ({"metadata__annotations": {"kubectl.kubernetes.io/last-applied-configuration": HUGE[:200_000]}}, SETTLES),
)
"""Changes to a suspended service, and the field that the refusal must name."""


def traps() -> list[Case]:
    """Every trap; what settles has an empty field."""
    named = [Case(origin="trap", body=_suspended(name), field=field) for name, field in NAMES.items()]
    changed = [
        Case(origin="trap", body=with_changes(_suspended(f"trap-{number}"), changes), field=field)
        for number, (changes, field) in enumerate(SPECS)
    ]
    return named + changed


def _suspended(name: str) -> dict[str, Any]:
    return a_tiny_service(name, suspend=True)
