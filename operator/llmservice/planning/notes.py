"""What a reader of the plan should know of the model: how it was found, where it comes from."""

from collections.abc import Iterator

from llmservice.api.v1alpha1.quantity import amount_of
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import MODELS_PATH, ModelSource
from llmservice.models.sizes import in_gib
from llmservice.planning.cache_plan import CachePlan, OwnedClaim
from llmservice.planning.facts import Facts

_IMAGE_VOLUMES = (
    "the model is mounted from an image, for which Kubernetes has the feature gate ImageVolume: on by default since "
    "1.35, off by default from 1.31 on; the container runtime of the nodes must be able to mount images, too"
)
"""KEP 4639 (kubernetes/enhancements) and kubernetes.io/docs/tasks/configure-pod-container/image-volumes."""


def notes_on_model(spec: LLMServiceSpec, facts: Facts, source: ModelSource, cache: CachePlan | None) -> Iterator[str]:
    """Sentences for `status.plan`."""
    yield from (*facts.passed_over, *facts.notes)
    if facts.model_note:
        yield facts.model_note
    if facts.model.gated and _asks_hub(source, cache) and spec.model.token_secret_ref is None:
        yield "the model is gated: without a mirror it needs an accepted licence and spec.model.tokenSecretRef"
    if cache is not None and not cache.weights:
        yield (
            f"the model is downloaded to the claim {cache.claim} before replicas start; its path below {MODELS_PATH} "
            "is a guess until then"
        )
    if cache is not None and cache.owned is not None and _is_too_small(cache.owned, cache.expected_bytes):
        yield (
            f"spec.model.cache.claim.size: a claim of {cache.owned.size} has no room for the model's files, which have "
            f"{in_gib(cache.expected_bytes)}, and is not made"
        )
    if source.image:
        yield _IMAGE_VOLUMES


def _is_too_small(owned: OwnedClaim, expected_bytes: int) -> bool:
    """Shared file systems often have more room than their claim says."""
    return "ReadWriteMany" not in owned.access_modes and amount_of(owned.size) < expected_bytes


def _asks_hub(source: ModelSource, cache: CachePlan | None) -> bool:
    if cache is not None:
        return cache.request.uri.startswith("hf://") and not cache.weights
    return source.scheme == "hf" and not source.offline
