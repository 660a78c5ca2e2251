"""Facts of a model that a user states: for models that nobody knows, or where the user knows better.

The names are those of `llmservice.models.model_facts.ModelFacts` in camelCase, and of `llmservice inspect -o json`.
"""

from typing import Annotated, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.text import Form
from llmservice.models.model_facts import Experts, LatentAttention, ModelFacts, Task

Name = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Form(r"[A-Za-z0-9][-+._A-Za-z0-9]*", "is not such a name: write it as the model's config.json does"),
]
Width = Annotated[int, Field(strict=True, ge=1, le=2**26)]
Layers = Annotated[int, Field(strict=True, ge=0, le=10_000)]


class StatedExperts(ApiModel):
    """A mixture of experts."""

    count: Annotated[int, Field(strict=True, ge=1, le=100_000)]
    """Experts in each layer."""
    active: Annotated[int, Field(strict=True, ge=1, le=100_000)]
    """Experts that work on a token."""
    intermediate_size: Width
    """Width of an expert."""
    shared: Layers | None = None
    """Experts that work on every token."""
    dense_layers: Layers | None = None
    """Layers without experts."""


class StatedLatentAttention(ApiModel):
    """Multi-head latent attention: what one token keeps per layer, in values."""

    rank: Width
    """kv_lora_rank."""
    rope_size: Width
    """qk_rope_head_dim."""
    query_rank: Width | None = None
    """q_lora_rank. Omitted: queries are not compressed."""
    nope_size: Width | None = None
    """qk_nope_head_dim."""
    value_size: Width | None = None
    """v_head_dim."""


class StatedFacts(ApiModel):
    """What is known of the model, by the names that `llmservice inspect -o json` prints."""

    architecture: Name | None = None
    """Class name in config.json, or general.architecture of a GGUF file."""
    task: Literal["Generate", "Embed", "Rerank", "Transcribe"] | None = None
    """What the model is asked for."""
    longest_context: Annotated[int, Field(strict=True, ge=1, le=2**30)] | None = None
    """Tokens that the model was made for, prompt and answer together."""
    layers: Layers | None = None
    """All layers."""
    hidden_size: Width | None = None
    """Width of a layer."""
    intermediate_size: Width | None = None
    """Width of the MLP."""
    heads: Width | None = None
    """Attention heads."""
    kv_heads: Width | None = None
    """Heads of keys and values."""
    head_size: Width | None = None
    """Width of a head."""
    vocabulary: Width | None = None
    """Tokens in the vocabulary."""
    tied_embeddings: Annotated[bool, Field(strict=True)] | None = None
    """Whether input and output share their embeddings."""
    experts: StatedExperts | None = None
    """A mixture of experts."""
    latent: StatedLatentAttention | None = None
    """Multi-head latent attention."""
    sliding_window: Width | None = None
    """Tokens that a sliding layer keeps."""
    sliding_layers: Layers | None = None
    """Layers that keep only the last slidingWindow tokens."""
    linear_layers: Layers | None = None
    """Layers without a growing cache: Mamba, linear attention."""
    global_kv_heads: Width | None = None
    """Heads of keys and values in layers that see all tokens, where they differ from the rest."""
    global_head_size: Width | None = None
    """Width of these heads."""
    parameters: Annotated[int, Field(strict=True, ge=1, le=2**50)] | None = None
    """All weights."""
    file_bytes: Annotated[int, Field(strict=True, ge=1, le=2**53)] | None = None
    """Bytes of the files that the engine loads."""
    quantization: Name | None = None
    """The checkpoint's own method: awq, gptq, fp8, Q4_K_M. Omitted: a plain checkpoint."""
    quantization_bits: Annotated[int, Field(strict=True, ge=1, le=64)] | None = None
    """Bits of a quantized weight."""
    quantization_group: Width | None = None
    """Weights that share a scale."""
    dtype: Literal["bfloat16", "float16", "float32"] | None = None
    """Number format of the plain weights."""
    gated: Annotated[bool, Field(strict=True)] | None = None
    """Whether a licence must be accepted first."""

    def as_facts(self) -> ModelFacts:
        """The facts as planning reads them."""
        stated = {name: value for name in type(self).model_fields if (value := getattr(self, name)) is not None}
        if self.experts is not None:
            stated["experts"] = Experts(**self.experts.model_dump(exclude_none=True))
        if self.latent is not None:
            stated["latent"] = LatentAttention(**self.latent.model_dump(exclude_none=True))
        if self.task is not None:
            stated["task"] = Task(self.task)
        return ModelFacts(**stated)
