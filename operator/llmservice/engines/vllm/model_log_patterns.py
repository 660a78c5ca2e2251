"""What vLLM says of a model that it cannot serve as it is asked to.

Read in the released source of 0.33.0: config/{model,vllm,lora}.py, lora/peft_helper.py, platforms/{cuda,rocm}.py,
model_executor/models/registry.py, renderers/chat_utils/chat_template.py.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

VLLM_MODEL_LOG_PATTERNS = (
    LogPattern(
        cause="the context is longer than the model takes",
        reason=Reason.CONTEXT_TOO_LONG,
        pattern=compiled(
            r"greater than the derived max_model_len \([^\n]*model_max_length=(?P<largest>[0-9]+)[^\n]*"
            r"To allow overriding"
        ),
        remedy="lower spec.maxModelLen to the model's context length",
        remedy_in_numbers="set spec.maxModelLen to {largest} or less",
    ),
    LogPattern(
        cause="the context is longer than the model takes",
        reason=Reason.CONTEXT_TOO_LONG,
        pattern=compiled(r"greater than the derived max_model_len \(\w+=(?P<largest>[0-9]+)[^\n]*To allow overriding"),
        remedy="lower spec.maxModelLen to the model's context length",
        remedy_in_numbers="set spec.maxModelLen to {largest} or less",
    ),
    LogPattern(
        cause="the model cannot be divided by so many devices",
        reason=Reason.NOT_DIVISIBLE,
        pattern=compiled(
            r"attention heads \((?P<heads>[0-9]+)\) must be divisible by tensor parallel size"
            r"|[0-9]+ is not divisible by [0-9]+"
        ),
        remedy="set spec.gpu.count to a divisor of the number of heads",
        remedy_in_numbers="set spec.gpu.count to a divisor of {heads}",
    ),
    LogPattern(
        cause="the checkpoint is quantized in another way",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"Quantization method specified in the model config"),
        remedy="set spec.quantization: auto; an online- quantization needs an unquantized checkpoint",
    ),
    LogPattern(
        cause="this quantization does not run on this card",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"is not supported for the current GPU"),
        remedy="use another checkpoint or another spec.gpu.type",
    ),
    LogPattern(
        cause="this version does not know the quantization",
        reason=Reason.QUANTIZATION_MISMATCH,
        pattern=compiled(r"Unknown quantization method: "),
        remedy="use another checkpoint or another spec.engineOptions.version",
    ),
    LogPattern(
        cause="the quantization needs another number format",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"is not supported for quantization method"),
        remedy="set spec.dtype to one that the line names",
    ),
    LogPattern(
        cause="the card has no bfloat16",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"Bfloat16 is only supported on GPUs"),
        remedy="set spec.dtype: float16, or omit it",
    ),
    LogPattern(
        cause="the model cannot run in float16",
        reason=Reason.UNSUPPORTED_FIELD,
        pattern=compiled(r"does not support float16\. Reason: "),
        remedy="set spec.dtype: bfloat16 on a card that has it, else float32",
    ),
    LogPattern(
        cause="no attention kernel takes this model on this card",
        reason=Reason.GPU_NOT_SUPPORTED,
        pattern=compiled(r"No valid attention backend found for"),
        remedy="omit spec.kvCacheDtype and --attention-backend, or set another spec.gpu.type",
    ),
    LogPattern(
        cause="this version no longer has the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"was supported in vLLM until|is not supported in-tree anymore"),
        remedy="set the older spec.engineOptions.version that the line names",
    ),
    LogPattern(
        cause="the version does not know the model's architecture",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(
            r"are not supported for now\. Supported|failed to be inspected\. Please|Cannot find model module"
        ),
        remedy="set a newer spec.engineOptions.version, or use another engine",
    ),
    LogPattern(
        cause="the model does not generate text",
        reason=Reason.UNSUPPORTED_MODEL_SOURCE,
        pattern=compiled(r"(does|do) not support `--runner "),
        remedy="set spec.model.task to what the model is made for",
    ),
    LogPattern(
        cause="the adapter has a higher rank than the engine reserves room for",
        reason=Reason.ADAPTER_REJECTED,
        pattern=compiled(r"LoRA rank (?P<rank>[0-9]+) is greater than max_lora_rank"),
        remedy="raise --max-lora-rank in spec.engineOptions.args",
        remedy_in_numbers=(
            "add --max-lora-rank={rank} (or the next of 8, 16, 32, 64, 128, 256) to spec.engineOptions.args"
        ),
    ),
    LogPattern(
        cause="the adapter does not belong to this model",
        reason=Reason.ADAPTER_REJECTED,
        pattern=compiled(
            r"Adapter bias is not supported|does not support LoRA yet|LoRA is not supported for"
            r"|expected target modules in|No adapter found for|adapter_config\.json'"
        ),
        remedy="correct it in spec.adapters, or remove it",
    ),
    LogPattern(
        cause="the chat template cannot be used",
        reason=Reason.CHAT_TEMPLATE_INVALID,
        pattern=compiled(r"[Tt]he supplied chat template (string|path)|ChatTemplateResolutionError"),
        remedy="mount it with spec.engineOptions.files, and give that path to --chat-template in the args",
    ),
)
"""The most specific first: the context of a model may be stated in two ways, the larger one counts."""
