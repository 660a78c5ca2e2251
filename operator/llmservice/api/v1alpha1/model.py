"""The model: where its weights are and what clients call it."""

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.model_cache import ModelCache
from llmservice.api.v1alpha1.model_facts import StatedFacts
from llmservice.api.v1alpha1.references import SecretKeyRef
from llmservice.api.v1alpha1.sources import DraftModel, Projector, Revision
from llmservice.api.v1alpha1.text import Form
from llmservice.untrusted.patterns import compiled

Uri = Annotated[
    str,
    Field(min_length=3, max_length=1024),
    Form(r"[!-#%-~]+", "must not contain spaces, $, or letters beyond ASCII: write it without"),
]
FileName = Annotated[
    str,
    Field(min_length=1, max_length=512),
    Form(r"[!-#%-.0-~][!-#%-~]*", "is not a file in the model: write its relative path, without spaces and $"),
]
ServedName = Annotated[
    str,
    Field(min_length=1, max_length=128),
    Form(
        r"[A-Za-z0-9][-._:/A-Za-z0-9]*",
        "is not a name clients can use: begin with a letter or digit, then letters, digits and -._:/",
    ),
]


def _uri_rule(cel_when: str, when: Callable[[str], bool], form: str, message: str) -> Rule:
    """Where `when` (`cel_when` in CEL) applies, the whole URI has the form."""
    of_form = compiled(form)
    return Rule(
        cel=f"!({cel_when}) || self.uri.matches(r'^(?:{form})$')",
        holds=lambda model: not when(model.uri) or of_form.matches(model.uri),
        message=message,
        field_path=".uri",
    )


_REPOSITORY = "[A-Za-z0-9][-._A-Za-z0-9]*/[A-Za-z0-9][-._A-Za-z0-9]*"
_OLLAMA = "ollama://"
_FROM_HUB = "(!self.uri.contains('://') || self.uri.startsWith('hf://'))"


def _is_from_hub(uri: str) -> bool:
    return "://" not in uri or uri.startswith("hf://")


class Model(ApiModel):
    """Where the weights are, and what clients call the model."""

    uri: Uri
    """hf://owner/name (a bare owner/name means this); pvc://claim/path, or pvc://claim/hub?repo=owner/name where
    that is a cache of the hub; oci://registry/image:tag?path=folder; ollama://name:tag, or ollama://host/namespace/name:tag
    of another registry; s3://bucket/path and gs://bucket/path, on every engine with `cache`; with it
    az://container/path, the account in AZURE_STORAGE_ACCOUNT_NAME of engineOptions.env."""
    revision: Revision | None = None
    """Commit, branch or tag of a Hugging Face repository. Omitted: its main branch."""
    file: FileName | None = None
    """GGUF file in the repository, or in the folder of a claim, image or bucket. Omitted: found by `quantization`, in a
    repository or with `cache` only."""
    names: Annotated[tuple[ServedName, ...], Field(max_length=16), Unique()] = ()
    """Names clients may use for the model. Omitted: the resource's name."""
    task: Literal["Generate", "Embed", "Rerank", "Transcribe"] | None = None
    """What the model is asked for. Omitted: found out from its files; Generate where they do not tell."""
    projector: Projector | None = None
    """What lets the model see or hear, where the engine loads it beside the model."""
    draft: DraftModel | None = None
    """A small model of the same vocabulary that guesses ahead, to answer sooner."""
    token_secret_ref: SecretKeyRef | None = None
    """Secret with the Hugging Face token for a private or gated model, or for what else the engine fetches there."""
    trust_remote_code: Annotated[bool, Field(strict=True)] = False
    """Whether Python code from the model's repository may run in the engine. Pin `revision` when true."""
    inspect: Literal["Auto", "Never"] = "Auto"
    """Auto: what nobody knows of the model is read from its files once, by a short Job. Never: it is not."""
    facts: StatedFacts | None = None
    """What you know of the model: beats the catalogue, and no file is read."""
    cache: ModelCache | None = None
    """Where the model is downloaded to, once and before a device is taken. Omitted: each replica downloads it."""

    rules: ClassVar = (
        _uri_rule(
            "self.uri.contains('://')",
            lambda uri: "://" in uri,
            "(hf|pvc|oci|ollama|s3|gs|az)://.*",
            "has an unknown scheme: write hf://owner/name, pvc://claim/path, oci://image:tag, ollama://name:tag, "
            "s3://bucket/path, gs://bucket/path or az://container/path",
        ),
        _uri_rule(
            _FROM_HUB,
            _is_from_hub,
            f"(hf://)?{_REPOSITORY}",
            "must be hf://owner/name; a revision goes to model.revision, a GGUF file to model.file, "
            "a local path is pvc://claim/path",
        ),
        _uri_rule(
            "self.uri.startsWith('pvc://')",
            lambda uri: uri.startswith("pvc://"),
            f"pvc://[a-z0-9][-.a-z0-9]*(/[^/?]+)*([?]repo={_REPOSITORY})?",
            "must be pvc://claim/path: name the PersistentVolumeClaim, then the file or folder in it; where that is a "
            "cache of the hub, pvc://claim/folder?repo=owner/name",
        ),
        _uri_rule(
            "self.uri.startsWith('oci://')",
            lambda uri: uri.startswith("oci://"),
            "oci://[a-z0-9][-._a-z0-9]*(:[0-9]+)?(/[a-z0-9][-._a-z0-9]*)+(:[A-Za-z0-9_][-._A-Za-z0-9]*)?"
            "(@sha256:[0-9a-f]+)?([?]path=[^/?.][^/?]*(/[^/?]+)*)?",
            "must be oci://registry/image:tag or oci://registry/image@sha256:0123, with ?path=folder where the model "
            "is not at the root of the image",
        ),
        _uri_rule(
            f"self.uri.startsWith('{_OLLAMA}')",
            lambda uri: uri.startswith(_OLLAMA),
            f"{_OLLAMA}(([A-Za-z0-9][-._A-Za-z0-9]*(:[0-9]+)?/)?[A-Za-z0-9_][-_A-Za-z0-9]*/)?"
            "[A-Za-z0-9_][-._A-Za-z0-9]*(:[A-Za-z0-9_][-._A-Za-z0-9]*)?",
            "must be ollama://name:tag, ollama://namespace/name:tag or ollama://host/namespace/name:tag",
        ),
        _uri_rule(
            "self.uri.startsWith('s3://') || self.uri.startsWith('gs://') || self.uri.startsWith('az://')",
            lambda uri: uri.startswith(("s3://", "gs://", "az://")),
            "(s3|gs|az)://[a-z0-9][-._a-z0-9]*(/[^/]+)*/?",
            "must be s3://bucket/path, gs://bucket/path or az://container/path: name the bucket, then the folder in it",
        ),
        Rule(
            cel="!self.uri.split('/').exists(part, part == '.' || part == '..')",
            holds=lambda model: not {".", ".."} & set(model.uri.split("/")),
            message="must not contain '.' or '..' as a part: write the path in full",
            field_path=".uri",
        ),
        Rule(
            cel="!has(self.file) || !self.file.split('/').exists(part, part == '.' || part == '..')",
            holds=lambda model: not {".", ".."} & set((model.file or "").split("/")),
            message="must not contain '.' or '..' as a part: name a file inside the model",
            field_path=".file",
        ),
        Rule(
            cel=f"!has(self.revision) || {_FROM_HUB} || self.uri.contains('?repo=')",
            holds=lambda model: model.revision is None or _is_from_hub(model.uri) or "?repo=" in model.uri,
            message="only a Hugging Face repository has revisions: remove it, or use an hf:// uri",
            field_path=".revision",
        ),
        Rule(
            cel="!has(self.cache) || !(self.uri.startsWith('pvc://') || self.uri.startsWith('oci://'))",
            holds=lambda model: model.cache is None or not model.uri.startswith(("pvc://", "oci://")),
            message="nothing is downloaded from a claim or an image: remove it, or use an hf://, s3://, gs:// or az://",
            field_path=".cache",
        ),
        Rule(
            cel=f"!has(self.cache) || !self.uri.startsWith('{_OLLAMA}')",
            holds=lambda model: model.cache is None or not model.uri.startswith(_OLLAMA),
            message="only the engine itself fetches from this registry: remove it, or use an hf://, s3://, gs:// or az://",
            field_path=".cache",
        ),
        Rule(
            cel="has(self.cache) || !self.uri.startsWith('az://')",
            holds=lambda model: model.cache is not None or not model.uri.startswith("az://"),
            message="no engine loads from az:// itself: set model.cache, and it is downloaded to a claim",
            field_path=".uri",
        ),
    )
