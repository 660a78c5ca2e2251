"""Where the weights come from: `spec.model.uri` as a source, and its mount."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.model import Model
from llmservice.engines.engine import MODELS_PATH, Engine, ModelSource
from llmservice.errors import InvalidSpec
from llmservice.planning.cache import CachedModel
from llmservice.planning.service_plan import Mount

_SCHEMES = {
    "hf": "a Hugging Face repository (hf://)",
    "pvc": "a claim (pvc://)",
    "s3": "a bucket (s3://)",
    "gs": "a bucket (gs://)",
}


def choose_source(model: Model, engine: Engine, cached: CachedModel | None = None) -> ModelSource:
    """The model's source; raises InvalidSpec when the engine cannot load from there.

    A `cached` model is loaded from its claim, whatever its uri.

    | uri                          | scheme | repository    | path                  |
    |------------------------------|--------|---------------|-----------------------|
    | `hf://owner/name`            | hf     | owner/name    |                       |
    | `owner/name`                 | hf     | owner/name    |                       |
    | `pvc://claim/path/to/model`  | pvc    |               | /models/path/to/model |
    | `s3://bucket/path`           | s3     | the whole uri |                       |
    """
    if cached is not None:
        return ModelSource(scheme="pvc", claim=cached.claim, path=f"{MODELS_PATH}/{cached.path}", cached=True)
    scheme, separator, rest = model.uri.partition("://")
    if not separator:
        scheme, rest = "hf", model.uri
    able = engine.capabilities.schemes
    if scheme not in able:
        ways = " or ".join(_SCHEMES[known] for known in _SCHEMES if known in able)
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"{engine.name} cannot load from {scheme}://; use {ways}, or another engine",
            field="spec.model.uri",
        )
    return ModelSource(
        scheme=scheme,
        repository={"hf": rest, "pvc": ""}.get(scheme, model.uri),
        claim=rest.partition("/")[0] if scheme == "pvc" else "",
        path=f"{MODELS_PATH}/{rest.partition('/')[2]}" if scheme == "pvc" else "",
        revision=model.revision or "",
        file=model.file or "",
    )


def weight_mounts(source: ModelSource) -> tuple[Mount, ...]:
    """The claim of a pvc source, read-only: replicas share it, and none can change it."""
    if not source.claim:
        return ()
    volume = {"persistentVolumeClaim": {"claimName": source.claim, "readOnly": True}}
    return (Mount(name="models", path=MODELS_PATH, source=volume, read_only=True),)
