"""Where Ollama has a model from: a registry, the hub as one, or a file of a volume."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import Default, ServingRequest
from llmservice.engines.gguf import one_file, quantization_in, whole_name
from llmservice.engines.ollama.names import FORM, Name, name_in
from llmservice.engines.ollama.start_script import CREATE, PULL, STAGED
from llmservice.errors import InvalidSpec

SCHEME = "ollama"
_URI = f"{SCHEME}://"
_HUB = "hf.co"
"""The Hub speaks the protocol of Ollama's registry: huggingface.co/docs/hub/ollama."""
_FILE_LEFT_OPEN = (
    "the hub chooses the file: Q4_K_M where the repository has it, else another; "
    "spec.quantization or spec.model.file decides it"
)

Source = tuple[str, str]
"""How it is fetched (PULL or CREATE), and its name in a registry or the path of its file."""


def served_names(names: tuple[str, ...]) -> tuple[Name, ...]:
    """The names of the resource as Ollama's; raises InvalidSpec for one that Ollama would refuse."""
    found = [(name, name_in(name)) for name in names]
    for name, parts in found:
        if parts is None or name.startswith(STAGED):
            raise InvalidSpec(
                Reason.UNSUPPORTED_FIELD,
                f"{name} is no name of a model here: write {FORM}, each part of 80 characters at most",
                field="spec.model.names",
            )
    return tuple(parts for _, parts in found if parts)


def model_source(request: ServingRequest) -> tuple[Source, tuple[Default, ...], tuple[str, ...]]:
    """How the model is fetched and from where, with the defaults and notes that follow."""
    model = request.model
    if model.path:
        return (CREATE, _whole_file(one_file(model))), (), ()
    if model.scheme == SCHEME:
        return (PULL, _of_registry(request)), (), ()
    return _of_hub(request)


def _whole_file(path: str) -> str:
    if "-00001-of-" in path:
        raise InvalidSpec(
            Reason.UNSUPPORTED_FIELD,
            f"{path} is the first part of a split model, which this engine does not load: merge the parts with "
            "llama-gguf-split, or use an engine that loads them",
            field="spec.model.file",
        )
    return path


def _of_registry(request: ServingRequest) -> str:
    """The name in a registry; raises InvalidSpec for fields that its tag decides."""
    name = request.model.repository.removeprefix(_URI)
    if name_in(name) is None:
        raise InvalidSpec(Reason.INVALID_SPEC, f"{name} is no name of a model: write {FORM}", field="spec.model.uri")
    if request.quantization != "auto":
        message = "the tag in spec.model.uri decides it; remove it, and name the tag that has this quantization"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.quantization")
    if request.model.file:
        message = "the tag in spec.model.uri decides it; remove it"
        raise InvalidSpec(Reason.UNSUPPORTED_FIELD, message, field="spec.model.file")
    return name


def _of_hub(request: ServingRequest) -> tuple[Source, tuple[Default, ...], tuple[str, ...]]:
    """The repository by the name under which the hub's own registry has it; the tag is a quantization or a file."""
    model, known = request.model, request.version.quantizations
    defaults: tuple[Default, ...] = ()
    if model.file:
        tag = whole_name(model.file).rpartition("/")[2]
    elif request.quantization != "auto":
        tag = request.quantization
    elif tag := quantization_in(model.repository, known):
        defaults = (Default(field="quantization", value=tag, reason="the repository's name states it"),)
    name = f"{_HUB}/{model.repository}{':' if tag else ''}{tag}"
    if name_in(name) is None:
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"{name} is no name of a model here: write {FORM}, each part of 80 characters at most; or set "
            "spec.model.cache, which downloads the file to a claim",
            field="spec.model.uri",
        )
    return (PULL, name), defaults, () if tag else (_FILE_LEFT_OPEN,)
