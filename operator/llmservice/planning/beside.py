"""What is loaded beside the model: a projector, a draft model, adapters. From where, and at which path."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.api.v1alpha1.sources import DraftModel, LoraAdapter, Projector
from llmservice.engines.adapters import Adapter
from llmservice.engines.engine import MODELS_PATH, Draft, Engine, ModelSource
from llmservice.errors import InvalidSpec
from llmservice.models.claim_uri import claim_uri
from llmservice.models.download_choice import ADAPTER, GGUF, SAFETENSORS
from llmservice.models.download_layout import HUB_SCHEME, rest_of, scheme_of
from llmservice.models.download_names import problem_of
from llmservice.models.download_request import DownloadRequest
from llmservice.planning.cache import expected_path
from llmservice.planning.facts import Facts
from llmservice.planning.pod_plan import Mount

SOURCES_PATH = "/sources"
"""Below it claims are mounted that the model itself does not lie on, each by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What is loaded beside the model. `downloads` are what is to be on the claim of the cache."""

    projector: ModelSource | None = None
    draft: Draft | None = None
    adapters: tuple[Adapter, ...] = ()
    claims: tuple[str, ...] = ()
    downloads: tuple[DownloadRequest, ...] = ()
    uses_hub: bool = False

    def fetched(self, model: ModelSource) -> ModelSource:
        """The model's source, as one of the hub where the engine fetches something else from there."""
        return dataclasses.replace(model, scheme=HUB_SCHEME) if self.uses_hub else model

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """The claims that the model does not lie on, read-only."""
        return tuple(
            Mount(
                name=f"source-{number}",
                path=f"{SOURCES_PATH}/{claim}",
                source={"persistentVolumeClaim": {"claimName": claim, "readOnly": True}},
                read_only=True,
            )
            for number, claim in enumerate(self.claims)
        )


@dataclass(frozen=True, slots=True)
class _Part:
    """One of them: its field, the format of its files, and from where the engine loads it itself."""

    field: str
    asked: Projector | DraftModel | LoraAdapter
    format: str
    schemes: frozenset[str]
    revisions: bool = True


@dataclass(frozen=True, slots=True)
class _Place:
    """Where one of them is; `download` is what brings it there, None where it is there or the engine fetches it."""

    source: ModelSource
    download: DownloadRequest | None = None


def choose_beside(service: LLMService, facts: Facts, engine: Engine, model: ModelSource) -> Beside:
    """What is loaded beside the model; raises InvalidSpec with the field for what the engine cannot load from there.

    With a cache all of it is downloaded to the model's claim. Else what is on a claim is mounted, and the rest is
    fetched by the engine, where it can.
    """
    spec, support = service.spec, engine.capabilities.adapters
    # Whatever adapters there are: those that come later must find the same pod.
    may_use_hub = spec.adapter_updates == "Live" and support is not None and HUB_SCHEME in support.schemes
    if not (spec.adapters or spec.model.projector or spec.model.draft):
        return Beside(uses_hub=may_use_hub)
    parts = tuple(_parts(service, engine))
    places = {part.field: _placed(part, service, facts, model) for part in parts}
    sources = tuple(place.source for place in places.values())
    draft, projector = places.get("spec.model.draft"), places.get("spec.model.projector")
    tokens = spec.model.draft.tokens if spec.model.draft else None
    return Beside(
        projector=projector.source if projector else None,
        draft=Draft(source=draft.source, tokens=tokens or 0) if draft else None,
        adapters=tuple(
            Adapter(name=each.name, path=_loaded(places[_field(number)].source), always=each.apply == "Always")
            for number, each in enumerate(spec.adapters)
        ),
        claims=tuple(dict.fromkeys(each.claim for each in sources if each.claim and each.claim != model.claim)),
        downloads=tuple(dict.fromkeys(place.download for place in places.values() if place.download)),
        uses_hub=may_use_hub or any(each.scheme == HUB_SCHEME for each in sources),
    )


def _parts(service: LLMService, engine: Engine) -> Iterator[_Part]:
    can, model = engine.capabilities, service.spec.model
    if model.projector is not None:
        yield _Part("spec.model.projector", model.projector, GGUF, can.projector)
    if model.draft is not None:
        yield _Part(
            "spec.model.draft", model.draft, GGUF if can.gguf else SAFETENSORS, can.draft, revisions=not can.gguf
        )
    if can.adapters is not None:
        form = GGUF if can.adapters.file else ADAPTER
        for number, each in enumerate(service.spec.adapters):
            yield _Part(_field(number), each, form, can.adapters.schemes, can.adapters.revisions)


def _field(number: int) -> str:
    return f"spec.adapters[{number}]"


def _placed(part: _Part, service: LLMService, facts: Facts, model: ModelSource) -> _Place:
    asked, scheme = part.asked, scheme_of(part.asked.uri)
    if asked.revision is not None and scheme != HUB_SCHEME:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "only a Hugging Face repository has revisions: remove it, or use an hf:// uri",
            field=f"{part.field}.revision",
        )
    if scheme == "pvc":
        return _Place(_on_claim(part, model))
    if service.spec.model.cache is not None:
        return _downloaded(part, facts, model)
    if scheme not in part.schemes or model.offline:
        raise _unreachable(part, scheme)
    if asked.revision is not None and not part.revisions:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            "the engine loads the main branch; remove it, or set spec.model.cache, which downloads the revision",
            field=f"{part.field}.revision",
        )
    return _Place(
        ModelSource(scheme=scheme, repository=rest_of(asked.uri), revision=asked.revision or "", file=asked.file or "")
    )


def _unreachable(part: _Part, scheme: str) -> InvalidSpec:
    return InvalidSpec(
        Reason.UNSUPPORTED_MODEL_SOURCE,
        f"the engine cannot load this from {scheme}:// here; set spec.model.cache, which downloads it to the model's "
        "claim, or copy it to a claim and name it with pvc://",
        field=f"{part.field}.uri",
    )


def _on_claim(part: _Part, model: ModelSource) -> ModelSource:
    place = claim_uri(part.asked.uri)
    if place is None:
        raise _unreachable(part, "pvc")
    root = MODELS_PATH if place.claim == model.claim else f"{SOURCES_PATH}/{place.claim}"
    path = "/".join(filter(None, (root, place.path, part.asked.file)))
    _check_file(part, path)
    return ModelSource(scheme="pvc", claim=place.claim, path=path)


def _check_file(part: _Part, path: str) -> None:
    if part.format == GGUF and not path.lower().endswith(".gguf"):
        raise InvalidSpec(
            Reason.INVALID_SPEC, f"{path} is a folder; name the GGUF file in it", field=f"{part.field}.file"
        )


def _downloaded(part: _Part, facts: Facts, model: ModelSource) -> _Place:
    """On the claim of the cache: where its download said, or where it will be."""
    asked = part.asked
    request = DownloadRequest(
        uri=asked.uri if "://" in asked.uri else f"hf://{asked.uri}",
        format=part.format,
        revision=asked.revision or "",
        file=asked.file or "" if part.format == GGUF else "",
    )
    if problem := problem_of(request):
        raise InvalidSpec(Reason.INVALID_SPEC, problem.message, field=f"{part.field}.{problem.field}")
    path = facts.beside.get(request.key) or expected_path(request)
    # The kubelet would expand a variable in an argument, and makes one dollar of two.
    source = ModelSource(scheme="pvc", claim=model.claim, path=f"{MODELS_PATH}/{path.replace('$', '$$')}", offline=True)
    return _Place(source, request)


def _loaded(source: ModelSource) -> str:
    """What the engine loads: a path, or `owner/name` of the hub."""
    return source.path or source.repository
