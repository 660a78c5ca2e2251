"""The security contexts: the restricted Pod Security Standard with a numeric user, and what a device needs beyond it.

Source: kubernetes.io/docs/concepts/security/pod-security-standards (restricted).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Json
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts

_RESTRICTED, _BASELINE, _PRIVILEGED = "restricted", "baseline", "privileged"
_LOOSEST_FIRST = (_PRIVILEGED, _BASELINE)
_DEFAULT_SECCOMP = "RuntimeDefault"
_ENFORCE = "pod-security.kubernetes.io/enforce"
CONTAINER_SECURITY: Json = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
_LOCKING: Json = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"], "add": ["IPC_LOCK"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """The securityContext of pod and container; the strictest Pod Security Standard they pass, and why not more."""

    pod: Json
    container: Json
    standard: str
    notes: tuple[str, ...]


def choose_security(spec: LLMServiceSpec, facts: Facts) -> Security:
    """The ids in spec.pod, else those of the image; groups and seccomp profile of the device.

    Raises InvalidSpec for a custom image that would run as root because the catalogue's image does.
    """
    own, version, accelerator = spec.pod.security_context, facts.version, facts.accelerator
    groups = {*(accelerator.supplemental_groups if accelerator else ()), *own.supplemental_groups}
    seccomp = accelerator.seccomp_profile if accelerator else _DEFAULT_SECCOMP
    user = _user(spec, facts)
    group = version.group if own.run_as_group is None else own.run_as_group
    context = {
        "runAsNonRoot": user != 0,
        "runAsUser": user,
        "runAsGroup": group,
        "fsGroup": group if own.fs_group is None else own.fs_group,
        # A volume whose root already belongs to the group is not walked at each start.
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": seccomp},
    }
    locks = spec.pod.lock_memory
    beyond = tuple(_beyond_restricted(user, seccomp, facts, locks=locks))
    return Security(
        container=_LOCKING if locks else CONTAINER_SECURITY,
        pod={**context, "supplementalGroups": sorted(groups)} if groups else context,
        standard=next((standard for standard in _LOOSEST_FIRST if standard in dict(beyond)), _RESTRICTED),
        notes=tuple(note for _, note in beyond),
    )


def _user(spec: LLMServiceSpec, facts: Facts) -> int:
    """Root is only for images of the catalogue, which an administrator controls; a user cannot request it."""
    version, own = facts.version, spec.pod.security_context.run_as_user
    if own is None and version.user == 0 and spec.engine_options.image is not None:
        raise InvalidSpec(
            Reason.INVALID_SPEC,
            f"the catalogue's image of {version.engine} {version.version} runs as root, a custom image must not: "
            "set the numeric id of its user, or omit spec.engineOptions.image",
            field="spec.pod.securityContext.runAsUser",
        )
    return own or version.user


def _beyond_restricted(user: int, seccomp: str, facts: Facts, *, locks: bool) -> Iterator[tuple[str, str]]:
    """What the restricted standard forbids, by the standard that allows it (pod-security.kubernetes.io/enforce)."""
    version, accelerator = facts.version, facts.accelerator
    if user == 0:
        root = f"the image of {version.engine} {version.version} runs as root only, which the restricted Pod Security "
        way_out = f"Standard forbids: {_ENFORCE}: baseline on the namespace allows it, or use another version"
        yield _BASELINE, root + way_out
    if seccomp != _DEFAULT_SECCOMP and accelerator:
        profile = f"{accelerator.vendor} devices need the seccomp profile {seccomp}, which the restricted and baseline "
        way_out = f"Pod Security Standards forbid: {_ENFORCE}: privileged on the namespace allows it"
        yield _PRIVILEGED, profile + way_out
    if locks:
        capability = (
            "spec.pod.lockMemory adds IPC_LOCK, which the restricted and baseline Pod Security Standards forbid: "
        )
        yield _PRIVILEGED, f"{capability}{_ENFORCE}: privileged on the namespace allows it{_of_no_root(user)}"


def _of_no_root(user: int) -> str:
    """Across execve a process of another user keeps ambient capabilities alone, which Kubernetes does not set.

    capabilities(7); kubernetes/enhancements, KEP 2763.
    """
    if user == 0:
        return ""
    return (
        f"; user {user} is not root, and with most container runtimes has no use of it: there the memlock limit of the "
        "runtime decides (LimitMEMLOCK of its systemd unit)"
    )
