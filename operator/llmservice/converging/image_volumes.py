"""Whether the cluster mounts images: one without the feature gate ImageVolume drops such volumes, and says nothing.

With the gate off, the API server removes the volume and its mounts and accepts the rest (k8s.io/kubernetes,
pkg/api/pod/util.go, `dropImageVolumes`): engines would start without a model, and every repair would be dropped again.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.converging.intent import digest_of, intent_digest
from llmservice.errors import Refused
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import is_workload, pod_templates


def check_image_volumes(manifests: Iterable[Manifest], live: Mapping[str, Any] | None) -> None:
    """Raises Refused where the workload that runs (`live`) was applied as it is wanted and has no such volume."""
    wanted = next(filter(is_workload, manifests), None)
    if wanted is None or live is None or digest_of(live) != intent_digest(wanted):
        return
    if set(_image_volumes(wanted)) - set(_image_volumes(live)):
        raise Refused(
            Reason.REFUSED_BY_CLUSTER,
            "this cluster does not mount images and dropped the volume of spec.model.uri, so that replicas have no "
            "model; turn on the feature gate ImageVolume of its API server and kubelets (on by default since "
            "Kubernetes 1.35), or copy the model to a claim (pvc://)",
        )


def _image_volumes(workload: Mapping[str, Any]) -> Iterator[str]:
    for template in pod_templates(workload):
        volumes = template["spec"].get("volumes") or ()
        yield from (str(volume.get("name")) for volume in volumes if volume.get("image"))
