"""Context length and concurrency: tokens per request and concurrent requests, with the same meaning on every engine."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.engine_version import EngineVersion
from llmservice.planning.service_plan import Default


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Tokens per request (prompt + answer) and concurrent requests per replica."""

    max_model_len: int
    max_num_seqs: int
    defaults: tuple[Default, ...]


def choose_context(spec: LLMServiceSpec, version: EngineVersion) -> Context:
    """The values of the resource, else the defaults of the catalogue for this engine.

    The model's own limit is not known here, so the defaults are small enough for common models on one device.
    """
    defaults = []
    if spec.max_model_len is None:
        reason = "fits prompts of several pages; raise it up to the model's context length if memory allows"
        defaults.append(Default(field="maxModelLen", value=str(version.max_model_len), reason=reason))
    if spec.max_num_seqs is None:
        reason = f"the usual number for {version.engine}; each uses KV cache for maxModelLen tokens, more requests wait"
        defaults.append(Default(field="maxNumSeqs", value=str(version.max_num_seqs), reason=reason))
    return Context(
        max_model_len=spec.max_model_len or version.max_model_len,
        max_num_seqs=spec.max_num_seqs or version.max_num_seqs,
        defaults=tuple(defaults),
    )
