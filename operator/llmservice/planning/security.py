"""As whom the pod runs: the restricted Pod Security Standard with a numeric user, and what a device needs more.

Source: kubernetes.io/docs/concepts/security/pod-security-standards (restricted).
"""

from dataclasses import dataclass

from llmservice.api.v1alpha1.pod import SecurityContext
from llmservice.planning.facts import Facts
from llmservice.planning.service_plan import Json

_DEFAULT_SECCOMP = "RuntimeDefault"
CONTAINER_SECURITY: Json = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """The pod's securityContext; whether it passes the restricted standard, and what the device needs if not."""

    pod: Json
    restricted: bool
    notes: tuple[str, ...]


def choose_security(own: SecurityContext, facts: Facts) -> Security:
    """The user's ids, else those of the image; groups and seccomp profile of the device."""
    version, accelerator = facts.version, facts.accelerator
    needed = accelerator.supplemental_groups if accelerator else ()
    groups = sorted({*needed, *own.supplemental_groups})
    seccomp = accelerator.seccomp_profile if accelerator else _DEFAULT_SECCOMP
    group = version.group if own.run_as_group is None else own.run_as_group
    context = {
        "runAsNonRoot": True,
        "runAsUser": own.run_as_user or version.user,
        "runAsGroup": group,
        "fsGroup": group if own.fs_group is None else own.fs_group,
        # A volume whose root already belongs to the group is not walked through at each start.
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": seccomp},
    }
    restricted = seccomp == _DEFAULT_SECCOMP
    return Security(
        pod={**context, "supplementalGroups": groups} if groups else context,
        restricted=restricted,
        notes=() if restricted else (_note(accelerator.vendor if accelerator else "", seccomp),),
    )


def _note(vendor: str, seccomp: str) -> str:
    return (
        f"{vendor} devices need the seccomp profile {seccomp}, which Pod Security Standards but privileged refuse; "
        "set the label pod-security.kubernetes.io/enforce: privileged on the namespace"
    )
