"""The weights cache: which claim, what is downloaded to it, and where replicas find it."""

import dataclasses
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.model import Model
from llmservice.api.v1alpha1.model_cache import CacheClaim
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import Default, Engine
from llmservice.engines.gguf import quantization_in, whole_name
from llmservice.errors import InvalidSpec, ModelRefused
from llmservice.models.download_answer import is_path_on_claim
from llmservice.models.download_layout import HUB_SCHEME, bucket_folder, named_file, scheme_of, snapshot_folder
from llmservice.models.download_names import problem_of
from llmservice.models.download_request import COMPILE_FOLDER, DownloadRequest
from llmservice.models.sizes import GIB, in_gib
from llmservice.models.weights import weight_bytes
from llmservice.planning.cache_plan import CachePlan, OwnedClaim
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts
from llmservice.planning.service_plan import RolloutPlan

_CLAIM_FIELD = "model.cache.claim"
_MARGIN = 1.1
"""A download keeps unfinished parts beside finished files, and file systems keep some of a volume to themselves."""
_BESIDE_GIB = 2
"""For tokenizers, lists of files, and what engines compile."""
_MOST_BYTES = 2**48
"""Of a claim that is made because somebody says so of a model: no volume has it."""


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model on the claim of `spec.model.cache`: the claim, and the path of what to load relative to its root."""

    claim: str
    path: str


def cached_model(service: LLMService, facts: Facts, engine: Engine) -> CachedModel | None:
    """Where replicas find the model: as its download answered, else where it will be; None without a cache."""
    cache = service.spec.model.cache
    if cache is None:
        return None
    path = _answered(facts) or expected_path(request_of(service, facts, engine))
    # The kubelet would expand a variable in an argument, and makes one dollar of two.
    return CachedModel(_claim_name(service, cache.claim), path.replace("$", "$$"))


def choose_cache(
    service: LLMService, facts: Facts, engine: Engine, *, beside: Sequence[DownloadRequest] = (), several: bool
) -> Decided[CachePlan | None]:
    """The cache, None where the resource has none; `several`: more than one replica may run at once.

    `beside` are the downloads of what is loaded beside the model.

    Raises InvalidSpec for a claim that is made and whose size nobody knows.
    """
    model = service.spec.model
    if model.cache is None:
        return Decided(None)
    size, claim = file_bytes(service, facts, engine), model.cache.claim
    owned, defaults = (None, ()) if claim.name else _owned(claim, size, several=several)
    name = _claim_name(service, claim)
    if not claim.name:
        reason = "the operator makes it for this service"
        defaults = (*default(f"{_CLAIM_FIELD}.name", name, reason), *defaults)
    return Decided(
        CachePlan(
            claim=name,
            request=request_of(service, facts, engine),
            owned=owned,
            expected_bytes=size,
            weights=_answered(facts),
            missing=tuple(each for each in beside if each.key not in facts.beside),
        ),
        defaults,
    )


def in_place(rollout: RolloutPlan, cache: CachePlan | None) -> RolloutPlan:
    """The rollout, without one more replica where the claim that is made can be mounted on one node alone.

    The new replica would wait for the volume on another node until the old one goes.
    """
    is_for_one_node = cache is not None and cache.owned is not None and "ReadWriteMany" not in cache.owned.access_modes
    return dataclasses.replace(rollout, by_free_devices=False) if is_for_one_node else rollout


def request_of(service: LLMService, facts: Facts, engine: Engine) -> DownloadRequest:
    """What is downloaded: the files that this engine loads; the same for all services that need the same files.

    Raises InvalidSpec for a file that is no single one, and for names that no download takes.
    """
    model, gguf = service.spec.model, engine.capabilities.gguf
    file = _named_file(model) if gguf else ""
    named = bool(file or named_file(model.uri))
    request = DownloadRequest(
        uri=model.uri if "://" in model.uri else f"hf://{model.uri}",
        format="gguf" if gguf else "safetensors",
        revision=model.revision or "",
        file=file,
        quantization=_quantization(service, facts) if gguf and not named else "",
    )
    if problem := problem_of(request):
        raise InvalidSpec(Reason.INVALID_SPEC, problem.message, field=f"spec.model.{problem.field}")
    return request


def expected_path(request: DownloadRequest) -> str:
    """Where the model will lie, relative to the root of the claim, as far as it is known before the download.

    A branch or tag stands for its commit, and a quantization for the file that has it.
    """
    is_hub = scheme_of(request.uri) == HUB_SCHEME
    folder = snapshot_folder(request.uri, request.revision or "main") if is_hub else bucket_folder(request.uri)
    if request.format != "gguf":
        return folder
    named = named_file(request.uri) or request.file
    return f"{folder}/{named or (request.quantization or 'model') + '.gguf'}"


def compile_folder(cache: CachePlan, facts: Facts, image: str, security: Json) -> str:
    """The folder of the claim for what engines compile, relative to its root: the same for the same pods alone.

    It is named by image, model and devices, and by the ids that its files belong to.
    """
    device = facts.accelerator.name or facts.accelerator.resource_name if facts.accelerator else ""
    ids = [security.get(name) for name in ("runAsUser", "runAsGroup", "fsGroup")]
    asked = orjson.dumps([image, cache.request.key, device, facts.devices, ids])
    return f"{COMPILE_FOLDER}/{hashlib.blake2b(asked, digest_size=10).hexdigest()}"


def file_bytes(service: LLMService, facts: Facts, engine: Engine) -> int:
    """Bytes of the files to download; 0 where nothing tells. What an engine converts as it loads is larger on disk."""
    asked = service.spec.quantization if engine.capabilities.gguf else "auto"
    return min(_MOST_BYTES, facts.model.file_bytes or weight_bytes(facts.model, asked) or 0)


def _named_file(model: Model) -> str:
    """The GGUF file that the resource names beside its uri; raises InvalidSpec for a glob, and for two names."""
    if model.file and named_file(model.uri):
        message = "spec.model.uri already names a file; remove one of the two"
        raise InvalidSpec(Reason.INVALID_SPEC, message, field="spec.model.file")
    return whole_name(model.file) if model.file else ""


def _answered(facts: Facts) -> str:
    """What the download answered; empty for what a path cannot be."""
    return facts.weights if is_path_on_claim(facts.weights) else ""


def _claim_name(service: LLMService, claim: CacheClaim) -> str:
    return claim.name or f"{service.metadata.name}-weights"


def _quantization(service: LLMService, facts: Facts) -> str:
    """That of the resource, else that in the repository's name; empty leaves it to the download."""
    asked = service.spec.quantization
    return quantization_in(service.spec.model.uri, facts.version.quantizations) if asked == "auto" else asked


def _owned(claim: CacheClaim, size: int, *, several: bool) -> tuple[OwnedClaim, tuple[Default, ...]]:
    amount, modes = _size(claim, size), _access_modes(claim, several=several)
    owned = OwnedClaim(
        storage_class=claim.storage_class_name or "",
        size=amount.value,
        access_modes=modes.value,
        retained=claim.when_deleted == "Retain",
    )
    return owned, (*amount.defaults, *modes.defaults)


def _size(claim: CacheClaim, size: int) -> Decided[str]:
    """That of the resource, else by the files; raises ModelRefused, as an inspection may succeed later."""
    if claim.size is not None:
        return Decided(str(claim.size))
    field = f"{_CLAIM_FIELD}.size"
    if not size:
        raise ModelRefused(
            Reason.INVALID_SPEC,
            "the size of the model is not known; set it to what its files need and a tenth more, or state "
            "spec.model.facts.fileBytes",
            field=f"spec.{field}",
        )
    amount = f"{math.ceil(size * _MARGIN / GIB) + _BESIDE_GIB}Gi"
    reason = f"{in_gib(size)} of files, a tenth more for unfinished parts, and {_BESIDE_GIB} GiB beside"
    return Decided(amount, default(field, amount, reason))


def _access_modes(claim: CacheClaim, *, several: bool) -> Decided[tuple[str, ...]]:
    if claim.access_modes:
        return Decided(claim.access_modes)
    mode, reason = (
        ("ReadWriteMany", "several replicas may run at once, each on its own node")
        if several
        else ("ReadWriteOnce", "one replica at a time, which every storage class can do")
    )
    return Decided((mode,), default(f"{_CLAIM_FIELD}.accessModes", mode, reason))
