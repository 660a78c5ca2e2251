"""The proxy's container and what it mounts: a sidecar of Kubernetes' own, which stops after the engine."""

from typing import Any

from llmservice.api.v1alpha1.resource import GROUP
from llmservice.engines.draining import SETTLE_SECONDS
from llmservice.objects.names import PROXY_NAME
from llmservice.objects.references import Manifest
from llmservice.planning.proxy_plan import KeysPlan, ProxyPlan
from llmservice.rendering.proxy_config import (
    ALIVE_PATH,
    CONFIG_FILE,
    CONFIG_FOLDER,
    KEYS_SCRIPT,
    POD_UID_VARIABLE,
    PROBE_PORT,
    proxy_config,
)
from llmservice.rendering.proxy_keys import COMMAND, COMMAND_WITH_KEYS, KEYS_FOLDER, KEYS_LUA, LIST_FOLDER

_ANNOTATION = f"{GROUP}/{PROXY_NAME}-"
_CONFIG, _KEYS, _LIST = f"{PROXY_NAME}-config", f"{PROXY_NAME}-keys", f"{PROXY_NAME}-list"
_ALIVE = {
    "httpGet": {"path": ALIVE_PATH, "port": PROBE_PORT, "scheme": "HTTP"},
    "periodSeconds": 10,
    "timeoutSeconds": 5,
    "failureThreshold": 6,
}
_STOP = (
    "/bin/sh",
    "-c",
    f"""\
sleep {SETTLE_SECONDS - 1}
for each in /proc/[0-9]*; do
  if [ "$(cat $each/comm 2>/dev/null)" = haproxy ]; then kill -USR1 ${{each#/proc/}}; fi
done
exit 0""",
)
"""When the pod is no endpoint any more, the proxy takes no new connection and ends each with its answer, so that its
client goes elsewhere; what it has it finishes. That begins before the engine is told to stop. HAProxy is found by its
name: process 1 is another one where a pod shares its processes."""


def proxy_container(plan: ProxyPlan) -> Manifest:
    """The init container that goes on (restartPolicy: Always); Kubernetes stops it when the engine's has ended."""
    return {
        "name": PROXY_NAME,
        "image": plan.image,
        "imagePullPolicy": plan.pull_policy,
        "restartPolicy": "Always",
        "command": list(COMMAND if plan.keys is None else COMMAND_WITH_KEYS),
        "livenessProbe": dict(_ALIVE),
        "lifecycle": {"preStop": {"exec": {"command": list(_STOP)}}},
        "resources": {"requests": dict(plan.resource_requests), "limits": dict(plan.resource_limits)},
        "securityContext": dict(plan.security),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": _mounts(plan.keys),
        **({"env": [_pod_uid()]} if plan.keys else {}),
    }


def _pod_uid() -> Manifest:
    return {"name": POD_UID_VARIABLE, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.uid"}}}


def proxy_annotations(plan: ProxyPlan) -> dict[str, str]:
    """Its files as annotations of the pod: a changed one is a changed template, and rolled out."""
    return {f"{_ANNOTATION}{name}": text for name, text in _files(plan).items()}


def proxy_volumes(plan: ProxyPlan) -> list[Manifest]:
    """The volumes of its files, and of the keys, which no other container mounts."""
    items = [{"path": name, "fieldRef": _annotation(name)} for name in _files(plan)]
    config = {"name": _CONFIG, "downwardAPI": {"items": items}}
    return [config] if plan.keys is None else [config, _secret(plan.keys), _list()]


def _files(plan: ProxyPlan) -> dict[str, str]:
    files = {CONFIG_FILE: proxy_config(plan)}
    return files if plan.keys is None else {**files, KEYS_SCRIPT: KEYS_LUA}


def _annotation(name: str) -> Manifest:
    return {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{_ANNOTATION}{name}']"}


def _secret(keys: KeysPlan) -> Manifest:
    source: dict[str, Any] = {"secretName": keys.name, "defaultMode": 0o440}
    if keys.entry:
        source["items"] = [{"key": keys.entry, "path": keys.entry}]
    return {"name": _KEYS, "secret": source}


def _list() -> Manifest:
    return {"name": _LIST, "emptyDir": {"medium": "Memory", "sizeLimit": "4Mi"}}


def _mounts(keys: KeysPlan | None) -> list[Manifest]:
    config = {"name": _CONFIG, "mountPath": CONFIG_FOLDER, "readOnly": True}
    if keys is None:
        return [config]
    secret = {"name": _KEYS, "mountPath": KEYS_FOLDER, "readOnly": True}
    return [config, secret, {"name": _LIST, "mountPath": LIST_FOLDER}]
