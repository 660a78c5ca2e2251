"""What is loaded beside the model: a projector, a draft model, adapters. Each has a source of its own."""

from typing import Annotated, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.text import Form

_PART = "[A-Za-z0-9][-._A-Za-z0-9]*"
_BELOW = "(/[A-Za-z0-9_][!#%-.0->@-~]*)*"
SourceUri = Annotated[
    str,
    Field(min_length=3, max_length=512),
    Form(
        f"(hf://)?{_PART}/{_PART}|pvc://[a-z0-9][-.a-z0-9]*{_BELOW}|(s3|gs|az)://[a-z0-9][-._a-z0-9]*{_BELOW}/?",
        "is no source: write hf://owner/name, pvc://claim/path, s3://bucket/path, gs://bucket/path or "
        "az://container/path",
    ),
]
Revision = Annotated[
    str,
    Field(min_length=1, max_length=255),
    Form(r"[A-Za-z0-9][-._/A-Za-z0-9]*", "is not a revision: name a commit, branch or tag"),
]
FilePath = Annotated[
    str,
    Field(min_length=1, max_length=512),
    Form(
        "[A-Za-z0-9_][!#%-.0->@-~]*(/[A-Za-z0-9_][!#%-.0->@-~]*)*",
        "is not a file of the source: write its relative path, without spaces and $",
    ),
]
AdapterName = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Form(
        r"[A-Za-z0-9][-._:/A-Za-z0-9]*",
        "is not a name clients can use: begin with a letter or digit, then letters, digits and -._:/",
    ),
]


class Projector(ApiModel):
    """What turns images or sound into tokens of the model (mmproj), where the engine loads it as a file of its own."""

    uri: SourceUri
    """hf://owner/name, pvc://claim/path, or s3://, gs:// and az:// with `model.cache`."""
    revision: Revision | None = None
    """Commit, branch or tag of a Hugging Face repository. Omitted: its main branch."""
    file: FilePath | None = None
    """GGUF file of the source. Omitted: the uri names it."""


class DraftModel(ApiModel):
    """A small model that guesses tokens ahead, which the model then checks in one step (speculative decoding)."""

    uri: SourceUri
    """hf://owner/name, pvc://claim/path, or s3://, gs:// and az:// with `model.cache`."""
    revision: Revision | None = None
    """Commit, branch or tag of a Hugging Face repository. Omitted: its main branch."""
    file: FilePath | None = None
    """GGUF file of the source. Omitted: the uri names it, or the engine loads folders."""
    tokens: Annotated[int, Field(strict=True, ge=1, le=64)] | None = None
    """Tokens to guess ahead. Omitted: what is usual for the engine."""


class LoraAdapter(ApiModel):
    """One adapter (LoRA) of the model."""

    name: AdapterName
    """What clients ask for, as for a model. Neither a name of the model nor of another adapter."""
    uri: SourceUri
    """hf://owner/name, pvc://claim/path, or s3://, gs:// and az:// with `model.cache`."""
    revision: Revision | None = None
    """Commit, branch or tag of a Hugging Face repository. Omitted: its main branch."""
    file: FilePath | None = None
    """GGUF file of the source. Omitted: the uri names it, or the engine loads folders."""
    apply: Literal["OnRequest", "Always"] = "OnRequest"
    """OnRequest: for those who ask for it. Always: to every request, where the engine can."""
