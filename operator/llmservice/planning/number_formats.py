"""Number formats: what the checkpoint, the engine and the device have in common."""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec
from llmservice.planning.compatibility import has_bfloat16
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts

_FLOAT16, _FLOAT32, _BFLOAT16 = "float16", "float32", "bfloat16"
_NOT_IN_FLOAT16 = ("Gemma2", "Gemma3", "Glm4", "Plamo2")
"""Architectures whose values leave the range of float16 (vLLM 0.33: config/model.py, _FLOAT16_NOT_SUPPORTED_MODELS)."""


def choose_dtype(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> Decided[str]:
    """The format in the spec, else one that the device has where the checkpoint's is none of them; else empty.

    Raises InvalidSpec (UnsupportedByDevice) for a model that works in none which device and engine have.
    """
    if spec.dtype is not None:
        return Decided(spec.dtype)
    if (
        not engine.capabilities.dtype
        or facts.model.dtype != _BFLOAT16
        or has_bfloat16(facts.accelerator, facts.version) is not False
    ):
        return Decided("")
    lacks = f"{facts.device_name} has no bfloat16"
    if facts.model.architecture.startswith(_NOT_IN_FLOAT16):
        if not engine.capabilities.float32:
            raise InvalidSpec(
                Reason.UNSUPPORTED_BY_DEVICE,
                f"{lacks}, {facts.model.architecture} does not work in float16, and {engine.name} takes no float32; "
                "choose another spec.gpu.type, or set spec.dtype: float16 all the same",
                field="spec.gpu.type",
            )
        reason = f"{lacks}, and this architecture does not work in float16: it takes twice the memory"
        return Decided(_FLOAT32, default("dtype", _FLOAT32, reason))
    return Decided(_FLOAT16, default("dtype", _FLOAT16, f"{lacks}, which the checkpoint is in"))


def check_files(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> None:
    """Raises InvalidSpec for a model whose files the engine does not load, as far as repository or catalogue tell."""
    model, gguf = facts.model, engine.capabilities.gguf
    if facts.model_source not in ("inspection", "catalogue") or spec.engine_options.image is not None:
        return
    if not gguf and _is_gguf(model.quantization):
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"the model is a GGUF file, which {engine.name} does not load; set spec.engine: llamacpp, or use a "
            "model in safetensors",
            field="spec.model.uri",
        )
    # A repository may have both kinds of files, and an inspection looks at one of them.
    if gguf and facts.model_source == "catalogue" and spec.model.file is None and not _is_gguf(model.quantization):
        raise InvalidSpec(
            Reason.UNSUPPORTED_MODEL_SOURCE,
            f"{spec.model.uri} is in safetensors, and {engine.name} loads GGUF files; use a repository of those, "
            "name one in spec.model.file, or set spec.engine: vllm",
            field="spec.model.uri",
        )


def check_quantization(spec: LLMServiceSpec, facts: Facts) -> None:
    """Raises InvalidSpec for a quantization that the checkpoint has not, before it costs a start.

    Names that are made on load need a plain checkpoint; the others say what the checkpoint is. Nothing is refused where
    nothing is known of the checkpoint, nor for files of which each has its own (GGUF).
    """
    asked, version, model = spec.quantization, facts.version, facts.model
    if asked == "auto" or not _tells(facts) or spec.model.file or asked.upper() == asked:
        return
    own = model.quantization
    if asked in version.on_load:
        if own:
            _refuse(
                f"{asked} is made of a plain checkpoint, and this one is {own}: set auto, or use another checkpoint"
            )
    elif not own:
        made = f"online-{asked}"
        way = f"{made} makes it on load" if made in version.on_load else "use a checkpoint that is quantized so"
        _refuse(f"the checkpoint is not quantized, so it is not {asked}: {way}, or set auto")
    elif not _same(asked, own):
        _refuse(f"the checkpoint is {own}, not {asked}: set {own}, or auto")


def _tells(facts: Facts) -> bool:
    """Whether the facts are those of a checkpoint in safetensors: then no method means a plain one."""
    model = facts.model
    return bool(model.quantization or model.dtype) and not _is_gguf(model.quantization)


def _is_gguf(name: str) -> bool:
    return name != "" and name.upper() == name


def _same(asked: str, own: str) -> bool:
    """`awq_marlin` and `auto_awq` are awq by other kernels; gpt-oss has kernels of its own for mxfp4."""
    return _kernel_free(asked) == _kernel_free(own)


def _kernel_free(name: str) -> str:
    return name.casefold().removeprefix("auto_").removeprefix("gpt_oss_").removesuffix("_marlin").replace("-", "_")


def _refuse(message: str) -> None:
    raise InvalidSpec(Reason.QUANTIZATION_MISMATCH, message, field="spec.quantization")
