"""What is refused and what is not: one table for the types and for the API server."""

from typing import Any, NamedTuple

from llmservice.api.v1alpha1.resource import LLMService
from llmservice.errors import InvalidSpec
from tests.builders import an_llmservice

SECRET = {"secretKeyRef": {"name": "keys", "key": "token"}}
CONFIG = {"configMapKeyRef": {"name": "settings", "key": "token"}}
IN = {"key": "zone", "operator": "In", "values": ["a"]}
LONG_KEY = f"{'a' * 254}/b"
SPREAD = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule"}


class Refused(NamedTuple):
    """Changes to a valid LLMService, the field to be named, and the numbers and names in the message.

    The sentences themselves are in tests/golden/messages/api.txt.
    """

    changes: dict[str, Any]
    field: str
    names: tuple[str, ...] = ()


def env(*variables: dict[str, Any]) -> dict[str, Any]:
    return {"spec__engineOptions__env": list(variables)}


def arguments(*lengths: int) -> dict[str, Any]:
    return {"spec__engineOptions__args": ["x" * length for length in lengths]}


def files(*items: dict[str, Any]) -> dict[str, Any]:
    return {"spec__engineOptions__files": list(items)}


def uri(text: str) -> dict[str, Any]:
    return {"spec__model__uri": text}


def cached(text: str, **claim: Any) -> dict[str, Any]:
    return {**uri(text), "spec__model__cache": {"claim": claim}}


def limits(**amounts: Any) -> dict[str, Any]:
    return {"spec__pod__resources__limits": {name.replace("_", "-"): amount for name, amount in amounts.items()}}


def nodes(requirement: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [requirement]}]}
    return {"spec__pod__affinity__nodeAffinity__requiredDuringSchedulingIgnoredDuringExecution": terms}


def pods(requirement: dict[str, Any]) -> dict[str, Any]:
    term = {"topologyKey": "zone", "labelSelector": {"matchExpressions": [requirement]}}
    return {"spec__pod__affinity__podAntiAffinity__requiredDuringSchedulingIgnoredDuringExecution": [term]}


def adapters(*items: dict[str, Any]) -> dict[str, Any]:
    return {"spec__adapters": list(items)}


def scheduled(**changes: Any) -> dict[str, Any]:
    """An autoscaler of one to four replicas with a schedule; None leaves a field out."""
    values = {"name": "office", "start": "08:00", "end": "18:00", "minReplicas": 2, **changes}
    schedule = {field: value for field, value in values.items() if value is not None}
    return {"spec__autoscaling": {"maxReplicas": 4, "schedules": [schedule]}}


def peers(*items: dict[str, Any]) -> dict[str, Any]:
    return {"spec__networkPolicy__ingressFrom": list(items)}


def from_field(path: str) -> dict[str, Any]:
    return env({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}})


def mounts(*volumes: dict[str, Any]) -> dict[str, Any]:
    return {"spec__pod__mounts": list(volumes)}


def network(*resources: str) -> dict[str, Any]:
    return {"spec__pod__networkDevices": [{"resource": resource} for resource in resources]}


def route(**changes: Any) -> dict[str, Any]:
    """A route by one Gateway; None leaves a field out."""
    values = {"parentRefs": [{"name": "shared"}], **changes}
    return {"spec__route": {field: value for field, value in values.items() if value is not None}}


REFUSED = (
    Refused(from_field("spec.hostNetwork"), "spec.engineOptions.env[0].valueFrom.fieldRef.fieldPath"),
    Refused(from_field("metadata.labels"), "spec.engineOptions.env[0].valueFrom.fieldRef.fieldPath"),
    Refused(env({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}, **CONFIG}}), "valueFrom"),
    Refused(mounts({"path": "/a"}), "spec.pod.mounts[0]", ("claim", "configMap")),
    Refused(mounts({"path": "/a", "claim": {"name": "a"}, "configMap": {"name": "b"}}), "spec.pod.mounts[0]"),
    Refused(mounts({"path": "/a/../b", "claim": {"name": "a"}}), "spec.pod.mounts[0].path"),
    Refused(mounts({"path": "data", "claim": {"name": "a"}}), "spec.pod.mounts[0].path"),
    Refused(mounts({"path": "/dev/x", "claim": {"name": "a"}}), "spec.pod.mounts[0].path"),
    Refused(mounts({"path": "/proc", "configMap": {"name": "a"}}), "spec.pod.mounts[0].path"),
    Refused(mounts({"path": "/a", "hostPath": {"path": "/"}}), "spec.pod.mounts[0].hostPath"),
    Refused(mounts({"path": "/a", "secret": {"secretName": "x"}}), "spec.pod.mounts[0].secret"),
    Refused(mounts({"path": "/a", "claim": {"name": "a", "subPath": "b/../.."}}), "spec.pod.mounts[0].claim.subPath"),
    Refused(mounts({"path": "/a", "claim": {"name": "a", "subPath": "/b"}}), "spec.pod.mounts[0].claim.subPath"),
    Refused(mounts(*[{"path": "/a", "claim": {"name": "a"}}] * 2), "spec.pod.mounts", ("/a",)),
    Refused(network("nvidia.com/gpu"), "spec.pod.networkDevices[0].resource", ("rdma/",)),
    Refused(network("smarter-devices/fuse"), "spec.pod.networkDevices[0].resource"),
    Refused(network("rdma/hca", "rdma/hca"), "spec.pod.networkDevices", ("rdma/hca",)),
    Refused({"spec__pod__networkDevices": [{"resource": "rdma/hca", "count": 0}]}, "networkDevices[0].count", ("1",)),
    Refused({"spec__pod__hugePages": {"amount": "3Mi"}}, "spec.pod.hugePages.amount"),
    Refused({"spec__pod__hugePages": {"amount": "0"}}, "spec.pod.hugePages.amount"),
    Refused({"spec__pod__hugePages": {"size": "1Gi", "amount": "512Mi"}}, "spec.pod.hugePages.amount"),
    Refused({"spec__pod__hugePages": {"size": "4Ki", "amount": "1Gi"}}, "spec.pod.hugePages.size"),
    Refused({"spec__pod__lockMemory": "yes"}, "spec.pod.lockMemory"),
    Refused({"metadata__name": "qwen2.5-7b"}, "metadata.name"),
    Refused({"metadata__name": "7b-chat"}, "metadata.name"),
    Refused({"metadata__name": "a" * 51}, "metadata.name"),
    Refused({"metadata__name": "a-"}, "metadata.name"),
    Refused({"spec": None}, "spec"),
    Refused({"spec__engine": None}, "spec.engine"),
    Refused({"spec__engine": "Llamacpp"}, "spec.engine"),
    Refused({"spec__engine": 3}, "spec.engine"),
    Refused({"spec__model": None}, "spec.model"),
    Refused({"spec__model": "owner/name"}, "spec.model"),
    Refused({"spec__modle": {}}, "spec.modle"),
    Refused({"spec__max_model_len": 8}, "spec.max_model_len", ("maxModelLen",)),
    Refused({"spec__command": []}, "spec.command"),
    Refused({"spec__maxModelLen": 0}, "spec.maxModelLen", ("1", "0")),
    Refused({"spec__maxModelLen": 2**24 + 1}, "spec.maxModelLen", ("16777216", "16777217")),
    Refused({"spec__maxModelLen": "8k"}, "spec.maxModelLen"),
    Refused({"spec__startup__timeoutSeconds": "10m"}, "spec.startup.timeoutSeconds", ("600",)),
    Refused({"spec__startup__timeoutSeconds": 1.5}, "spec.startup.timeoutSeconds", ("seconds",)),
    Refused({"spec__route": {"parentRefs": []}}, "spec.route.parentRefs", ("1 element",)),
    Refused({"spec__maxNumSeqs": -1}, "spec.maxNumSeqs", ("1", "-1")),
    Refused({"spec__maxNumSeqs": 10**9}, "spec.maxNumSeqs", ("8192",)),
    Refused({"spec__replicas": -1}, "spec.replicas", ("0",)),
    Refused({"spec__fit": "Strict"}, "spec.fit"),
    Refused({"spec__model__inspect": "Always"}, "spec.model.inspect"),
    Refused({"spec__model__task": "Chat"}, "spec.model.task"),
    Refused({"spec__model__projector": {"file": "mmproj.gguf"}}, "spec.model.projector.uri"),
    Refused({"spec__model__projector": {"uri": "pvc://models/../x"}}, "spec.model.projector.uri"),
    Refused({"spec__model__draft": {"uri": "https://host/x.gguf"}}, "spec.model.draft.uri"),
    Refused({"spec__model__draft": {"uri": "a/b", "file": "../x.gguf"}}, "spec.model.draft.file"),
    Refused({"spec__model__draft": {"uri": "a/b", "revision": "a b"}}, "spec.model.draft.revision"),
    Refused({"spec__model__draft": {"uri": "a/b", "tokens": 0}}, "spec.model.draft.tokens", ("1",)),
    Refused(adapters({"name": "law", "uri": "a/b"}, {"name": "law", "uri": "c/d"}), "spec.adapters", ("law",)),
    Refused(adapters({"name": "law and order", "uri": "a/b"}), "spec.adapters[0].name"),
    Refused(adapters({"name": "law", "uri": "file:///x"}), "spec.adapters[0].uri"),
    Refused(adapters({"name": "law", "uri": "a/b", "apply": "Often"}), "spec.adapters[0].apply"),
    Refused(adapters(*({"name": f"a{number}", "uri": "a/b"} for number in range(17))), "spec.adapters", ("16",)),
    Refused({"spec__adapterUpdates": "Sometimes"}, "spec.adapterUpdates"),
    Refused({"spec__model__facts": {"layers": -1}}, "spec.model.facts.layers", ("0",)),
    Refused({"spec__model__facts": {"heads": 2**26 + 1}}, "spec.model.facts.heads", ("67108864",)),
    Refused({"spec__model__facts": {"dtype": "fp8"}}, "spec.model.facts.dtype"),
    Refused({"spec__model__facts": {"architecture": "a b"}}, "spec.model.facts.architecture"),
    Refused({"spec__model__facts": {"experts": {"count": 8, "active": 1}}}, "intermediateSize"),
    Refused({"spec__gpu": {"type": "L4", "alternatives": [{"type": "L4"}] * 2}}, "spec.gpu.alternatives", ("L4",)),
    Refused({"spec__gpu": {"resourceName": "a/b", "alternatives": [{"type": "L4"}]}}, "spec.gpu.alternatives"),
    Refused({"spec__gpu": {"count": 0, "parallelism": {"tensor": 1}}}, "spec.gpu.parallelism"),
    Refused({"spec__gpu": {"type": "L4", "count": 4, "parallelism": {"tensor": 3}}}, "spec.gpu.parallelism"),
    Refused({"spec__gpu": {"type": "L4", "count": 4, "parallelism": {"pipeline": 8}}}, "spec.gpu.parallelism"),
    Refused({"spec__gpu": {"count": 0, "nodes": 2}}, "spec.gpu.nodes"),
    Refused({"spec__gpu": {"type": "L4", "nodes": 0}}, "spec.gpu.nodes", ("1", "0")),
    Refused({"spec__gpu": {"type": "L4", "nodes": 17}}, "spec.gpu.nodes", ("16", "17")),
    Refused({"spec__gpu": {"type": "L4", "nodes": 2, "parallelism": {"tensor": 4}}}, "spec.gpu.parallelism"),
    Refused({"spec__gpu": {"type": "L4", "parallelism": {"data": 0}}}, "spec.gpu.parallelism.data", ("1", "0")),
    Refused({"spec__gpu": {"type": "L4", "parallelism": {"context": 1}}}, "spec.gpu.parallelism.context"),
    Refused({"spec__gpu": {"count": 0, "offloadLayers": 3}}, "spec.gpu.offloadLayers", ("0",)),
    Refused({"spec__pod__sharedMemory": 8}, "spec.pod.sharedMemory", ("1Mi",)),
    Refused({"spec__replicas": 10**30}, "spec.replicas", ("1000",)),
    Refused({"spec__replicas": 1.5}, "spec.replicas"),
    Refused({"spec__replicas": True}, "spec.replicas"),
    Refused({"spec__networkPolicy": {}}, "spec.networkPolicy.ingressFrom"),
    Refused(peers({}), "spec.networkPolicy.ingressFrom[0]", ("{}",)),
    Refused(peers({"ipBlock": {"cidr": "0.0.0.0/0"}}), "spec.networkPolicy.ingressFrom[0].ipBlock"),
    Refused(peers(*[{"podSelector": {}}] * 17), "spec.networkPolicy.ingressFrom", ("16",)),
    Refused({"spec__suspend": "yes"}, "spec.suspend"),
    Refused({"spec__quantization": "Q4 K M"}, "spec.quantization"),
    Refused({"spec__quantization": ""}, "spec.quantization", ("1",)),
    Refused({"spec__dtype": "BFloat16"}, "spec.dtype"),
    Refused({"spec__kvCacheDtype": "FP8"}, "spec.kvCacheDtype"),
    Refused({"spec__gpu": None}, "spec.gpu", ("resourceName", "0")),
    Refused({"spec__gpu": {"count": 2}}, "spec.gpu", ("resourceName", "0")),
    Refused({"spec__gpu__type": "X1"}, "spec.gpu", ("resourceName",)),
    Refused({"spec__gpu__count": -1}, "spec.gpu.count", ("0", "-1")),
    Refused({"spec__gpu__count": 65}, "spec.gpu.count", ("64", "65")),
    Refused({"spec__gpu": {"type": " X1"}}, "spec.gpu.type"),
    Refused({"spec__gpu": {"resourceName": "cpu"}}, "spec.gpu.resourceName"),
    Refused({"spec__autoscaling": {"minReplicas": 1}}, "spec.autoscaling.maxReplicas"),
    Refused({"spec__autoscaling": {"minReplicas": -1, "maxReplicas": 2}}, "spec.autoscaling.minReplicas", ("0",)),
    Refused(
        {"spec__autoscaling": {"minReplicas": 0, "maxReplicas": 2, "mode": "Advise"}},
        "spec.autoscaling.minReplicas",
        ("Advise", "Active"),
    ),
    Refused(
        {"spec__autoscaling": {"maxReplicas": 2, "idle": {"afterSeconds": 60}}},
        "spec.autoscaling.idle",
        ("minReplicas",),
    ),
    Refused(
        {"spec__autoscaling": {"minReplicas": 0, "maxReplicas": 2, "idle": {"afterSeconds": 59}}},
        "spec.autoscaling.idle.afterSeconds",
        ("60",),
    ),
    Refused(
        {"spec__autoscaling": {"minReplicas": 0, "maxReplicas": 2}, "spec__networkPolicy": {"ingressFrom": []}},
        "spec.networkPolicy",
        ("minReplicas",),
    ),
    Refused(
        {"spec__autoscaling": {"minReplicas": 3, "maxReplicas": 2}},
        "spec.autoscaling.maxReplicas",
        ("minReplicas",),
    ),
    Refused(
        {"spec__replicas": 2, "spec__autoscaling": {"maxReplicas": 2}},
        "spec.replicas",
        ("autoscaling.mode",),
    ),
    Refused(
        {"spec__autoscaling": {"maxReplicas": 2, "policy": "Threshold"}},
        "spec.autoscaling.targets",
    ),
    Refused(
        {
            "spec__autoscaling": {
                "maxReplicas": 2,
                "policy": "Threshold",
                "targets": {"runningRequests": 4},
                "profile": [
                    {"tokensPerSecond": 100, "timePerOutputTokenMicroseconds": 20_000},
                    {"tokensPerSecond": 200, "timePerOutputTokenMicroseconds": 30_000},
                ],
            }
        },
        "spec.autoscaling.profile",
    ),
    Refused(
        {
            "spec__autoscaling": {
                "maxReplicas": 2,
                "profile": [{"tokensPerSecond": 100, "timePerOutputTokenMicroseconds": 20_000}],
            }
        },
        "spec.autoscaling.profile",
    ),
    Refused(
        {"spec__autoscaling": {"maxReplicas": 2, "targets": {"runningRequests": 4}}},
        "spec.autoscaling.targets",
    ),
    Refused(
        {"spec__autoscaling": {"maxReplicas": 2, "policy": "Threshold", "targets": {}}},
        "spec.autoscaling.targets",
        ("kvCachePercent", "queuedRequests", "runningRequests"),
    ),
    Refused(
        {"spec__autoscaling": {"maxReplicas": 2, "policy": "Threshold", "targets": {"kvCachePercent": 101}}},
        "spec.autoscaling.targets.kvCachePercent",
        ("100",),
    ),
    Refused(scheduled(start="8:00"), "spec.autoscaling.schedules[0].start", ('"08:00"',)),
    Refused(scheduled(start="24:00"), "spec.autoscaling.schedules[0].start", ('"08:00"',)),
    Refused(scheduled(end="24:01"), "spec.autoscaling.schedules[0].end", ('"08:00"',)),
    Refused(scheduled(end="08:00"), "spec.autoscaling.schedules[0].end", ("24:00",)),
    Refused(scheduled(days=["Monday"]), "spec.autoscaling.schedules[0].days[0]", ("Mon",)),
    Refused(scheduled(name="Office"), "spec.autoscaling.schedules[0].name", ("lower-case",)),
    Refused(scheduled(timeZone="../zone"), "spec.autoscaling.schedules[0].timeZone", ("Europe/Berlin",)),
    Refused(scheduled(minReplicas=None), "spec.autoscaling.schedules[0]", ("minReplicas", "maxReplicas")),
    Refused(scheduled(minReplicas=5), "spec.autoscaling.schedules", ("minReplicas",)),
    Refused(scheduled(maxReplicas=5), "spec.autoscaling.schedules", ("maxReplicas",)),
    Refused({"spec__rollout__strategy": "replace"}, "spec.rollout.strategy"),
    Refused({"spec__startup__timeoutSeconds": 1}, "spec.startup.timeoutSeconds", ("10",)),
    Refused({"spec__drain__timeoutSeconds": 3601}, "spec.drain.timeoutSeconds", ("3600",)),
    Refused(uri("hf://owner/na me"), "spec.model.uri"),
    Refused(uri("https://example.com/model"), "spec.model.uri"),
    Refused(uri("HF://owner/name"), "spec.model.uri"),
    Refused(uri("hf://owner/name@main"), "spec.model.uri", ("model.revision",)),
    Refused(uri("hf://owner/name:Q4_K_M"), "spec.model.uri", ("hf://owner/name",)),
    Refused(uri("owner/name/file.gguf"), "spec.model.uri", ("model.file",)),
    Refused(uri("/models/tiny.gguf"), "spec.model.uri", ("pvc://claim/path",)),
    Refused(uri("pvc://"), "spec.model.uri", ("pvc://claim/path",)),
    Refused(uri("pvc://models/"), "spec.model.uri", ("pvc://claim/path",)),
    Refused(uri("pvc://models/hub?repo=owner"), "spec.model.uri", ("?repo=owner/name",)),
    Refused(uri("pvc://models?repo=owner/name/file"), "spec.model.uri"),
    Refused(uri("pvc://models?path=a"), "spec.model.uri"),
    Refused(uri("oci://image"), "spec.model.uri", ("oci://registry/image:tag",)),
    Refused(uri("oci://example.com/Owner/image:1"), "spec.model.uri"),
    Refused(uri("oci://example.com/image:1?path=.."), "spec.model.uri"),
    Refused(uri("oci://example.com/image:1?path=a/../.."), "spec.model.uri"),
    Refused(uri("ollama://"), "spec.model.uri", ("ollama://name:tag",)),
    Refused(uri("ollama://host/a/b/c:1"), "spec.model.uri"),
    Refused(uri("ollama://a.b/c:1"), "spec.model.uri", ("ollama://host/namespace/name:tag",)),
    Refused(uri("ollama://chat@sha256:0a"), "spec.model.uri"),
    Refused({**uri("ollama://chat:1b"), "spec__model__revision": "main"}, "spec.model.revision"),
    Refused(cached("ollama://chat:1b"), "spec.model.cache", ("hf://",)),
    Refused(uri("az://container/chat"), "spec.model.uri", ("model.cache",)),
    Refused(cached("pvc://models/chat"), "spec.model.cache", ("hf://", "az://")),
    Refused(cached("pvc://models/hub?repo=owner/name"), "spec.model.cache"),
    Refused(cached("oci://example.com/image:1"), "spec.model.cache"),
    Refused(cached("hf://a/b", name="weights", size="9Gi"), "spec.model.cache.claim.name", ("size",)),
    Refused(cached("hf://a/b", name="Weights"), "spec.model.cache.claim.name"),
    Refused(cached("hf://a/b", size="9 GB"), "spec.model.cache.claim.size"),
    Refused(cached("hf://a/b", accessModes=["ReadOnlyMany"]), "spec.model.cache.claim.accessModes[0]"),
    Refused(cached("hf://a/b", whenDeleted="Keep"), "spec.model.cache.claim.whenDeleted"),
    Refused({**uri("hf://a/b"), "spec__model__cache": {}}, "spec.model.cache.claim"),
    Refused(uri("pvc://models/../etc"), "spec.model.uri", ("'.'", "'..'")),
    Refused(uri("s3://"), "spec.model.uri"),
    Refused(uri("pvc://models/$(HOME)"), "spec.model.uri", ("$",)),
    Refused({"spec__model__file": "$(HOME).gguf"}, "spec.model.file", ("$",)),
    Refused({"spec__model__file": "/tiny.gguf"}, "spec.model.file"),
    Refused({"spec__model__file": "a/../../b.gguf"}, "spec.model.file", ("'.'", "'..'")),
    Refused({"spec__model__revision": "main"}, "spec.model.revision"),
    Refused({**uri("a/b"), "spec__model__revision": "my branch"}, "spec.model.revision"),
    Refused({**uri("a/b"), "spec__model__tokenSecretRef": {"name": "hub"}}, "spec.model.tokenSecretRef.key"),
    Refused(
        {**uri("a/b"), "spec__model__tokenSecretRef": {"name": "Hub", "key": "token"}},
        "spec.model.tokenSecretRef.name",
    ),
    Refused(
        {**uri("a/b"), "spec__model__tokenSecretRef": {"name": "hub", "key": "a b"}},
        "spec.model.tokenSecretRef.key",
    ),
    Refused({"spec__model__names": ["a", "a"]}, "spec.model.names"),
    Refused({"spec__model__names": ["a,b"]}, "spec.model.names[0]"),
    Refused({"spec__engineOptions__image": "a/b:1"}, "spec.engineOptions.image"),
    Refused(
        {"spec__engineOptions": {"image": "a b", "version": "1"}},
        "spec.engineOptions.image",
    ),
    Refused({"spec__engineOptions__version": "v 1"}, "spec.engineOptions.version"),
    Refused({"spec__engineOptions__args": "--verbose"}, "spec.engineOptions.args"),
    Refused({"spec__engineOptions__args": ["-v"] * 129}, "spec.engineOptions.args", ("128",)),
    Refused(env({"name": "A"}), "spec.engineOptions.env[0]", ("valueFrom",)),
    Refused(env({"name": "A", "value": "1", "valueFrom": SECRET}), "spec.engineOptions.env[0]"),
    Refused(env({"name": "A", "value": 1}), "spec.engineOptions.env[0].value"),
    Refused(env({"name": "A=B", "value": "1"}), "spec.engineOptions.env[0].name"),
    Refused(env({"name": "A", "value": "1"}, {"name": "A", "value": "2"}), "spec.engineOptions.env"),
    Refused(
        env({"name": "A", "valueFrom": SECRET | CONFIG}),
        "spec.engineOptions.env[0].valueFrom",
        ("secretKeyRef", "configMapKeyRef"),
    ),
    Refused(files({"path": "/etc/a"}), "spec.engineOptions.files[0]", ("secretKeyRef",)),
    Refused(files({"path": "a.jinja", **CONFIG}), "spec.engineOptions.files[0].path"),
    Refused(files({"path": "/a/../b", **CONFIG}), "spec.engineOptions.files[0].path", ("'.'", "'..'")),
    Refused(files({"path": "/a", **CONFIG}, {"path": "/a", **SECRET}), "spec.engineOptions.files"),
    Refused({"spec__pod__hostNetwork": True}, "spec.pod.hostNetwork", ("spec.pod", "PodSpec")),
    Refused({"spec__pod__labels": {"a b": "c"}}, "spec.pod.labels['a b']"),
    Refused({"spec__pod__labels": {"a..b/c": "d"}}, "spec.pod.labels['a..b/c']"),
    Refused({"spec__pod__labels": {"a.-b/c": "d"}}, "spec.pod.labels['a.-b/c']"),
    Refused({"spec__pod__labels": {LONG_KEY: "d"}}, f"spec.pod.labels['{LONG_KEY[:64]}']"),
    Refused({"spec__pod__labels": {"a-b": "c d"}}, "spec.pod.labels['a-b']"),
    Refused({"spec__pod__labels": {"a-b": 1}}, "spec.pod.labels['a-b']"),
    Refused({"spec__pod__labels": {"llmservice.dev/name": "x"}}, "spec.pod.labels", ("operator's",)),
    Refused({"spec__pod__labels": {"app.kubernetes.io/name": "x"}}, "spec.pod.labels", ("operator's",)),
    Refused({"spec__pod__annotations": {"llmservice.dev/x": ""}}, "spec.pod.annotations", ("operator's",)),
    Refused({"spec__pod__nodeSelector": {"-a": "b"}}, "spec.pod.nodeSelector['-a']"),
    Refused({"spec__pod__imagePullSecrets": ["hub"]}, "spec.pod.imagePullSecrets[0]"),
    Refused({"spec__pod__imagePullSecrets": [{"name": "a"}, {"name": "a"}]}, "spec.pod.imagePullSecrets"),
    *(
        Refused(
            {"spec__pod__hostAliases": [{"ip": ip, "hostnames": ["a"]}]}, "spec.pod.hostAliases[0].ip", ("IPv4", "IPv6")
        )
        for ip in ("host", "10.0.0", "10.0.0.256", "10.0.0.01", ":::", "fe80::1%eth0", "::ffff:10.0.0.1")
    ),
    Refused({"spec__pod__hostAliases": [{"ip": "::1", "hostnames": []}]}, "spec.pod.hostAliases[0].hostnames", ("1",)),
    *(
        Refused({"spec__pod__annotations": {key: "x"}}, "spec.pod.annotations")
        for key in (
            "container.apparmor.security.beta.kubernetes.io/engine",
            "container.seccomp.security.alpha.kubernetes.io/engine",
            "seccomp.security.alpha.kubernetes.io/pod",
            "io.kubernetes.cri-o.Devices",
        )
    ),
    Refused({"spec__pod__securityContext__runAsUser": 0}, "spec.pod.securityContext.runAsUser", ("1",)),
    Refused({"spec__pod__securityContext__privileged": True}, "spec.pod.securityContext.privileged"),
    Refused(limits(cpu="a lot"), "spec.pod.resources.limits.cpu"),
    Refused(limits(cpu=0.5), "spec.pod.resources.limits.cpu"),
    Refused(limits(cpu="-1"), "spec.pod.resources.limits.cpu"),
    Refused(limits(memory="1P"), "spec.pod.resources.limits.memory", ("1P",)),
    Refused(limits(memory="500m"), "spec.pod.resources.limits.memory"),
    Refused(limits(memory=8), "spec.pod.resources.limits.memory", ("1Mi",)),
    Refused(limits(ephemeral_storage="8"), "spec.pod.resources.limits['ephemeral-storage']", ("1Mi",)),
    Refused(limits(gpu=1), "spec.pod.resources.limits.gpu", ("spec.gpu",)),
    *(
        Refused(
            {"spec__pod__resources": {"requests": {name: more}, "limits": {name: less}}},
            f"spec.pod.resources.requests{field}",
        )
        for name, field, more, less in (
            ("cpu", ".cpu", "1500m", 1),
            ("memory", ".memory", "1Gi", "1G"),
            ("ephemeral-storage", "['ephemeral-storage']", "2Gi", "2047Mi"),
        )
    ),
    Refused({"spec__pod__tolerations": [{"value": "x"}]}, "spec.pod.tolerations[0]"),
    Refused(
        {"spec__pod__tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
        "spec.pod.tolerations[0].value",
    ),
    Refused(
        {"spec__pod__tolerations": [{"key": "a", "tolerationSeconds": 5}]},
        "spec.pod.tolerations[0].tolerationSeconds",
        ("NoExecute",),
    ),
    Refused(
        {"spec__pod__topologySpreadConstraints": [SPREAD, SPREAD]},
        "spec.pod.topologySpreadConstraints",
        ("topologyKey", "whenUnsatisfiable"),
    ),
    Refused(
        {"spec__pod__topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2}]},
        "spec.pod.topologySpreadConstraints[0].minDomains",
        ("minDomains", "whenUnsatisfiable", "DoNotSchedule"),
    ),
    Refused(nodes({"key": "zone", "operator": "Exists", "values": ["a"]}), "values", ("DoesNotExist",)),
    Refused(nodes({"key": "zone", "operator": "In"}), "values"),
    Refused(nodes({"key": "cores", "operator": "Gt", "values": ["a"]}), "values"),
    Refused(nodes({"key": "cores", "operator": "Lt", "values": ["1", "2"]}), "values"),
    Refused(pods({"key": "zone", "operator": "In"}), "values", ("NotIn",)),
    Refused(pods({"key": "zone", "operator": "Exists", "values": ["a"]}), "values", ("DoesNotExist",)),
    Refused(route(parentRefs=None), "spec.route.parentRefs"),
    Refused(route(parentRefs=[]), "spec.route.parentRefs", ("1",)),
    Refused(route(parentRefs=[{"name": f"g{n}"} for n in range(9)]), "spec.route.parentRefs", ("8",)),
    Refused(route(parentRefs=[{"name": "shared"}] * 2), "spec.route.parentRefs", ("sectionName",)),
    Refused(
        route(parentRefs=[{"name": "shared"}, {"name": "shared", "sectionName": "https"}]), "spec.route.parentRefs"
    ),
    Refused(route(parentRefs=[{"name": "shared", "kind": "Service"}]), "kind", ("Gateway",)),
    Refused(route(parentRefs=[{"name": "shared", "namespace": "a.b"}]), "namespace"),
    Refused(route(parentRefs=[{"name": "shared", "port": 70000}]), "port", ("65535",)),
    Refused(route(hostnames=["https://a.example.com"]), "spec.route.hostnames[0]"),
    Refused(route(hostnames=["10.0.0.1"]), "spec.route.hostnames[0]"),
    Refused(route(hostnames=["A.example.com"]), "spec.route.hostnames[0]"),
    Refused(route(hostnames=["a.*.com"]), "spec.route.hostnames[0]"),
    Refused(route(hostnames=["a.example.com"] * 2), "spec.route.hostnames", ("a.example.com",)),
    Refused(route(path="llama"), "spec.route.path"),
    Refused(route(path="/llama/"), "spec.route.path"),
    Refused(route(path="/a/../b"), "spec.route.path"),
    Refused(route(path="/a%2fb"), "spec.route.path"),
    Refused(route(path="/v1"), "spec.route.path", ("/v1",)),
    Refused(route(path="/llama/v1"), "spec.route.path", ("/v1",)),
    Refused(route(expose="Metrics"), "spec.route.expose", ("Api", "All")),
    Refused(route(timeouts={"request": "1 hour"}), "spec.route.timeouts.request", ("Default",)),
    Refused(route(timeouts={"request": "1.5h"}), "spec.route.timeouts.request"),
    Refused(route(timeouts={"request": "1m", "backendRequest": "61s"}), "spec.route.timeouts.backendRequest"),
    Refused(route(annotations={"nginx.org/server-snippets": "x"}), "annotations['nginx.org/server-snippets']"),
    Refused(route(annotations={"konghq.com/plugins": "x"}), "annotations['konghq.com/plugins']"),
    Refused(
        route(annotations={"external-dns.alpha.kubernetes.io/target": "x"}),
        "annotations['external-dns.alpha.kubernetes.io/target']",
    ),
    Refused(route(annotations={"note": "x" * 257}), "spec.route.annotations.note", ("256",)),
    Refused(route(inferencePool={}), "spec.route.inferencePool.endpointPickerRef"),
    Refused(route(backendRefs=[{"name": "other"}]), "spec.route.backendRefs"),
    Refused(arguments(8192, 8192, 8192), "spec", ("96", "kB")),
    Refused({"spec__pod__annotations": {f"note-{n}": "x" * 512 for n in range(64)}}, "spec", ("96", "kB")),
    Refused(nodes(IN | {"values": ["x" * 63] * 64}) | arguments(8192, 8192, 4096), "spec", ("96", "kB")),
    Refused(env(*[{"name": f"V{n}", "value": "x" * 256} for n in range(128)]), "spec", ("96", "kB")),
)

ACCEPTED: tuple[dict[str, Any], ...] = (
    {},
    {"metadata__name": "a" * 50},
    {"spec__gpu": {"type": "A 100-80GB"}},
    {"spec__gpu": {"resourceName": "example.com/mig-1g.10gb", "count": 2}},
    {"spec__gpu": {"type": "X1", "resourceName": "example.com/gpu.shared"}},
    {"spec__gpu": {"type": "L4", "alternatives": [{"type": "L40S"}, {"type": "T4", "count": 2}], "shared": True}},
    {"spec__gpu": {"type": "L4", "offloadLayers": 20, "verify": False, "alternatives": []}, "spec__fit": "Warn"},
    {"spec__gpu": {"type": "L4", "count": 8, "parallelism": {"tensor": 2, "data": 4, "expert": 8}}},
    {"spec__gpu": {"type": "L4", "count": 8, "nodes": 2, "parallelism": {"tensor": 16}}},
    {"spec__gpu": {"count": 0, "nodes": 1}},
    {"spec__gpu": {"type": "L4", "count": 8, "parallelism": {}}},
    from_field("status.podIP"),
    from_field("metadata.annotations['k8s.v1.cni.cncf.io/network-status']"),
    mounts(
        {"path": "/data/a", "claim": {"name": "a", "subPath": "b/c"}}, {"path": "/data/b", "configMap": {"name": "a"}}
    ),
    network("rdma/hca", "rdma/rdma_shared_device_a", "nvidia.com/hostdev", "vpc.amazonaws.com/efa", "openshift.io/ib0"),
    {"spec__pod__hugePages": {"amount": "1Gi"}, "spec__pod__lockMemory": True},
    {"spec__pod__hugePages": {"size": "1Gi", "amount": "2Gi"}},
    {"spec__model__inspect": "Never", "spec__pod__sharedMemory": "8Gi"},
    {"spec__model__facts": {"longestContext": 4096, "experts": {"count": 8, "active": 2, "intermediateSize": 1408}}},
    {"spec__model__facts": {"latent": {"rank": 512, "ropeSize": 64}, "dtype": "bfloat16", "gated": False}},
    {"spec__autoscaling": {"maxReplicas": 4}},
    {
        "spec__autoscaling": {
            "maxReplicas": 4,
            "profile": [
                {"tokensPerSecond": 100, "timePerOutputTokenMicroseconds": 20_000},
                {"tokensPerSecond": 200, "timePerOutputTokenMicroseconds": 30_000},
            ],
        }
    },
    scheduled(days=["Mon", "Fri"], end="24:00", timeZone="Etc/GMT+5"),
    scheduled(start="22:00", end="06:00", minReplicas=None, maxReplicas=1),
    {"spec__replicas": 2, "spec__autoscaling": {"maxReplicas": 4, "mode": "Advise", "source": "Prometheus"}},
    {"spec__autoscaling": {"maxReplicas": 4, "objective": {"timeToFirstTokenMilliseconds": 500}, "reserve": "Safe"}},
    {"spec__autoscaling": {"maxReplicas": 1, "policy": "Threshold", "targets": {"kvCachePercent": 80}}},
    {"spec__replicas": 0, "spec__suspend": True, "spec__maxModelLen": 2**24, "spec__maxNumSeqs": 8192},
    {"spec__quantization": "Q4_K_M", "spec__dtype": "bfloat16", "spec__kvCacheDtype": "q8_0"},
    route(),
    route(
        parentRefs=[
            {"name": "shared", "namespace": "infra", "sectionName": "http"},
            {"name": "shared", "namespace": "infra", "sectionName": "https", "port": 443},
            {"name": "shared", "kind": "ListenerSet"},
        ],
        hostnames=["chat.example.com", "*.models.example.com", "localhost"],
        path="/team-a/v1.5",
        expose="All",
        timeouts={"request": "0s", "backendRequest": "1h30m5s100ms"},
        annotations={"note": "any", "external-dns.alpha.kubernetes.io/ttl": "60"},
        inferencePool={"endpointPickerRef": {"name": "picker", "failureMode": "FailOpen"}},
    ),
    route(timeouts={"request": "Default", "backendRequest": "90s"}),
    peers(),
    peers({"namespaceSelector": {}}, {"podSelector": {"matchLabels": {"app": "web"}}}, *[{"podSelector": {}}] * 14),
    {"spec__rollout__strategy": "Surge", "spec__startup__timeoutSeconds": 86400, "spec__drain__timeoutSeconds": 0},
    uri("owner/name-1.5B_x") | {"spec__model__revision": "refs/pr/1", "spec__model__file": "sub/*Q4_K_M*.gguf"},
    uri("hf://owner/name") | {"spec__model__tokenSecretRef": {"name": "hub.token", "key": "HF_TOKEN"}},
    uri("pvc://models/a/b") | {"spec__model__names": ["gpt", "owner/name:latest"]},
    uri("s3://bucket/a/b/") | {"spec__model__tokenSecretRef": {"name": "hub", "key": "token"}},
    uri("gs://bucket"),
    uri("pvc://models"),
    uri("pvc://models?repo=owner/name.x"),
    uri("pvc://models/huggingface/hub?repo=owner/name") | {"spec__model__revision": "refs/pr/1"},
    uri("oci://example.com:5000/owner/image") | {"spec__model__file": "model.gguf"},
    uri("oci://ghcr.io/owner/a_b/image:v1.2_x@sha256:0a1b?path=models/chat"),
    cached("hf://owner/name", name="weights"),
    cached("owner/name") | {"spec__model__revision": "main"},
    cached("s3://bucket/a/b", storageClassName="fast", size="200Gi", accessModes=["ReadWriteMany"]),
    cached("gs://bucket/a", accessModes=["ReadWriteOnce", "ReadWriteMany"], whenDeleted="Retain"),
    cached("az://container/a", name="weights.of-all"),
    {"spec__engineOptions": {"image": "example.com:5000/a/b@sha256:0a", "version": "b1.2+cu12", "args": ["", "--a b"]}},
    env({"name": "a.B-c", "value": ""}, {"name": "B", "valueFrom": SECRET}, {"name": "C", "valueFrom": CONFIG}),
    arguments(8192, 8192),
    env(*[{"name": f"V{n}", "value": "x" * 64} for n in range(128)]),
    files({"path": "/etc/ssl/ca.pem", **CONFIG}, {"path": "/t/chat.jinja", **SECRET}),
    limits(cpu=2, memory="0.5Gi", ephemeral_storage="1e9"),
    limits(cpu=".5", memory="64Gi") | {"spec__pod__resources__requests": {"cpu": "500m", "memory": "65536Mi"}},
    {
        "spec__pod__labels": {"team": "search", "example.com/tier": "", LONG_KEY[1:]: ""},
        "spec__pod__nodeSelector": {"zone": "a"},
    },
    {"spec__pod__annotations": {"example.com/note": "free text, {json: too}"}},
    {"spec__pod__tolerations": [{"operator": "Exists"}, {"key": "a", "effect": "NoExecute", "tolerationSeconds": 5}]},
    {"spec__pod__topologySpreadConstraints": [SPREAD | {"minDomains": 2, "matchLabelKeys": ["pod-template-hash"]}]},
    nodes(IN),
    nodes({"key": "cores", "operator": "Gt", "values": ["8"]}),
    nodes({"key": "gpu", "operator": "DoesNotExist"}),
    pods(IN),
    {
        "spec__pod": {
            "priorityClassName": "high",
            "runtimeClassName": "nvidia",
            "schedulerName": "default-scheduler",
            "serviceAccountName": "default",
            "imagePullSecrets": [{"name": "registry"}],
            "imagePullPolicy": "IfNotPresent",
            "hostAliases": [
                {"ip": "10.0.0.1", "hostnames": ["mirror.local"]},
                {"ip": "fd00::a", "hostnames": ["mirror"]},
            ],
            "securityContext": {"runAsUser": 1000, "runAsGroup": 0, "fsGroup": 1000, "supplementalGroups": [44]},
        }
    },
)


def refusal(changes: dict[str, Any]) -> str:
    """What the types say about a changed LLMService; empty when they accept it."""
    try:
        LLMService.parse(an_llmservice(**changes))
    except InvalidSpec as error:
        return error.message
    return ""


def name_of(case: Any) -> str:
    """A readable test id."""
    if isinstance(case, Refused):
        return f"{case.field}: {', '.join(map(str, case.changes.values()))}"[:100]
    return ", ".join(case) or "as it is"
