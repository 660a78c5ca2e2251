"""Where the weights come from: `spec.model.uri` as a source, and what is mounted for it."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.model import Model
from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import COMPILED_PATH, MODELS_PATH, Engine, Launch, ModelSource
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from llmservice.models.claim_uri import ClaimUri, claim_uri, repository_folder
from llmservice.planning.cache import CachedModel
from llmservice.planning.pod_plan import Mount

_SCHEMES = {
    "hf://": "a Hugging Face repository",
    "ollama://": "a model of an Ollama registry",
    "pvc://": "a claim",
    "oci://": "an image",
    "s3://": "a bucket",
    "gs://": "a bucket",
}
_BUCKETS = frozenset({"s3", "gs", "az"})
_VOLUME = "models"


def choose_source(model: Model, engine: Engine, cached: CachedModel | None = None) -> ModelSource:
    """The model's source; raises InvalidSpec when the engine cannot load from there.

    A `cached` model is loaded from its claim, whatever its uri.

    | uri                              | scheme | repository    | mounted at /models | path or hub_cache          |
    |----------------------------------|--------|---------------|--------------------|----------------------------|
    | `hf://owner/name`                | hf     | owner/name    |                    |                            |
    | `owner/name`                     | hf     | owner/name    |                    |                            |
    | `pvc://claim`                    | pvc    |               | the claim          | path: /models              |
    | `pvc://claim/path/to/model`      | pvc    |               | the claim          | path: /models/path/to/model |
    | `pvc://claim/hub?repo=owner/name` | hf    | owner/name    | the claim          | hub_cache: /models/hub     |
    | `oci://host/image:tag?path=chat` | oci    |               | the image          | path: /models/chat         |
    | `ollama://name:tag`              | ollama | the whole uri |                    |                            |
    | `s3://bucket/path`               | s3     | the whole uri |                    |                            |
    """
    if cached is not None:
        return ModelSource(scheme="pvc", claim=cached.claim, path=_below(cached.path), offline=True)
    scheme, separator, rest = model.uri.partition("://")
    if not separator:
        scheme, rest = "hf", model.uri
    _check_scheme(scheme, engine)
    if place := claim_uri(model.uri):
        return _on_claim(place, model, engine)
    if scheme == "oci":
        image, _, path = rest.partition("?path=")
        return ModelSource(scheme=scheme, image=image, path=_below(path), file=model.file or "")
    repository = rest if scheme == "hf" else model.uri
    return ModelSource(scheme=scheme, repository=repository, revision=model.revision or "", file=model.file or "")


def weight_mounts(source: ModelSource, launch: Launch, compiled: str) -> tuple[Mount, ...]:
    """The claim or image with the weights, read-only: replicas share it, and none can change it.

    `compiled` is the folder of the claim for what the engine compiles, which alone is writable; empty for none.
    """
    if source.image:
        volume: Json = {"image": {"reference": source.image, "pullPolicy": "IfNotPresent"}}
        return (Mount(name=_VOLUME, path=MODELS_PATH, source=volume, read_only=True),)
    if not source.claim:
        return ()
    if not (compiled and launch.compiles):
        volume = {"persistentVolumeClaim": {"claimName": source.claim, "readOnly": True}}
        return (Mount(name=_VOLUME, path=MODELS_PATH, source=volume, read_only=True),)
    volume = {"persistentVolumeClaim": {"claimName": source.claim}}
    return (
        Mount(name=_VOLUME, path=MODELS_PATH, source=volume, read_only=True),
        Mount(name=_VOLUME, path=COMPILED_PATH, source=volume, sub_path=compiled),
    )


def _check_scheme(scheme: str, engine: Engine) -> None:
    able = engine.capabilities.schemes
    if scheme in able:
        return
    ways = " or ".join(f"{what} ({known})" for known, what in _SCHEMES.items() if known.removesuffix("://") in able)
    cache = "set spec.model.cache, which downloads it to a claim; or " if scheme in {*_BUCKETS, "hf"} else ""
    raise InvalidSpec(
        Reason.UNSUPPORTED_MODEL_SOURCE,
        f"{engine.name} cannot load from {scheme}://; {cache}use {ways}, or {_another(scheme)}",
        field="spec.model.uri",
    )


def _another(scheme: str) -> str:
    """The engines that can, as the field to set."""
    able = [name for name, engine in ENGINES.items() if scheme in engine.capabilities.schemes]
    return f"set spec.engine: {' or '.join(able)}" if able else "another engine"


def _on_claim(place: ClaimUri, model: Model, engine: Engine) -> ModelSource:
    if not place.repository:
        return ModelSource(scheme="pvc", claim=place.claim, path=_below(place.path), file=model.file or "")
    if not engine.capabilities.hub_cache:
        known = model.uri.partition("?")[0]
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"{engine.name} does not find a repository by its name on a claim; name its folder there: "
            f"{known}/{repository_folder(place.repository)}/snapshots/COMMIT",
            field="spec.model.uri",
        )
    return ModelSource(
        scheme="hf",
        repository=place.repository,
        claim=place.claim,
        hub_cache=_below(place.path),
        revision=model.revision or "",
        file=model.file or "",
        offline=True,
    )


def _below(path: str) -> str:
    """An absolute path of the container: the mount, or what is below it."""
    return f"{MODELS_PATH}/{path}" if path else MODELS_PATH
