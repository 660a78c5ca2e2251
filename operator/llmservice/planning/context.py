"""How long and how many: tokens per request and requests at once, the same meaning on every engine."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.engine_version import EngineVersion
from llmservice.planning.service_plan import Default


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Tokens per request (prompt + answer) and requests worked on at once per replica."""

    max_model_len: int
    max_num_seqs: int
    defaults: tuple[Default, ...]


def choose_context(spec: LLMServiceSpec, version: EngineVersion) -> Context:
    """What the resource says, else what the catalogue takes for this engine.

    Nothing is known of the model's own limit here, so the defaults are small enough for common models on one device.
    """
    defaults = []
    if spec.max_model_len is None:
        reason = "fits prompts of some pages; raise it up to what the model was trained for if memory allows"
        defaults.append(Default(field="maxModelLen", value=str(version.max_model_len), reason=reason))
    if spec.max_num_seqs is None:
        reason = f"{version.engine}'s usual number; each takes KV cache for maxModelLen tokens, more requests wait"
        defaults.append(Default(field="maxNumSeqs", value=str(version.max_num_seqs), reason=reason))
    return Context(
        max_model_len=spec.max_model_len or version.max_model_len,
        max_num_seqs=spec.max_num_seqs or version.max_num_seqs,
        defaults=tuple(defaults),
    )
