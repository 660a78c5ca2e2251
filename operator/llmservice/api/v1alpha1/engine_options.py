"""The engine's version, image, and what is passed on to it."""

from typing import Annotated, ClassVar

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.references import ConfigMapKeyRef, SecretKeyRef
from llmservice.api.v1alpha1.text import Form

EnvName = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Form(r"[-._a-zA-Z][-._a-zA-Z0-9]*", "is not the name of a variable: use letters, digits, '_', '-' and '.'"),
]
FilePath = Annotated[
    str,
    Field(min_length=2, max_length=512),
    Form(
        r"(/[-._+@A-Za-z0-9]+)+",
        "is not an absolute path of a file: begin with '/', use letters, digits and -._+@, end with the file's name",
    ),
]
Version = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Form(r"[A-Za-z0-9][-._+A-Za-z0-9]*", "is not a version: name one of the catalogue, for example 1.2.3"),
]
ImageReference = Annotated[
    str,
    Field(min_length=1, max_length=512),
    Form(
        r"[a-z0-9][-._/:@A-Za-z0-9]*",
        "is not an image reference: write registry/name:tag or registry/name@sha256:digest",
    ),
]
Argument = Annotated[str, Field(max_length=8192)]

FieldPath = Annotated[
    str,
    Field(min_length=1, max_length=340),
    Form(
        r"metadata\.(name|namespace|uid|(labels|annotations)\[\x27[-._/A-Za-z0-9]+\x27\])|spec\.(nodeName|serviceAccountName)|"
        r"status\.(hostIP|hostIPs|podIP|podIPs)",
        "is not a field that a pod tells its containers: write metadata.name, metadata.namespace, metadata.uid, "
        "metadata.labels['key'], metadata.annotations['key'], spec.nodeName, spec.serviceAccountName, status.hostIP or "
        "status.podIP",
    ),
]

_ONE_SOURCE = "set exactly one of secretKeyRef and configMapKeyRef"


def _has_one_source(part: "File") -> bool:
    return (part.secret_key_ref is None) != (part.config_map_key_ref is None)


class FieldRef(ApiModel):
    """A field of the pod itself (downward API)."""

    field_path: FieldPath
    """Path of the field: status.podIP, metadata.name, spec.nodeName."""


class EnvVarSource(ApiModel):
    """Where the value of a variable comes from: exactly one of the three."""

    secret_key_ref: SecretKeyRef | None = None
    """A key of a Secret."""
    config_map_key_ref: ConfigMapKeyRef | None = None
    """A key of a ConfigMap."""
    field_ref: FieldRef | None = None
    """A field of the pod."""

    rules: ClassVar = (
        Rule(
            cel="[has(self.secretKeyRef), has(self.configMapKeyRef), has(self.fieldRef)].filter(one, one).size() == 1",
            holds=lambda source: [source.secret_key_ref, source.config_map_key_ref, source.field_ref].count(None) == 2,  # noqa: PLR2004
            message="set exactly one of secretKeyRef, configMapKeyRef and fieldRef",
        ),
    )


class EnvVar(ApiModel):
    """One environment variable of the engine, from a value, a Secret, a ConfigMap or a field of the pod."""

    name: EnvName
    """Name of the variable."""
    value: Annotated[str, Field(max_length=32768)] | None = None
    """The value itself; never a secret."""
    value_from: EnvVarSource | None = None
    """Where to read the value from."""

    rules: ClassVar = (
        Rule(
            cel="has(self.value) != has(self.valueFrom)",
            holds=lambda variable: (variable.value is None) != (variable.value_from is None),
            message="set exactly one of value and valueFrom (value: '' for an empty one)",
        ),
    )


class File(ApiModel):
    """One file placed in the engine's container: a chat template, a CA bundle."""

    path: FilePath
    """Absolute path in the container."""
    secret_key_ref: SecretKeyRef | None = None
    """A key of a Secret with the content."""
    config_map_key_ref: ConfigMapKeyRef | None = None
    """A key of a ConfigMap with the content."""

    rules: ClassVar = (
        Rule(cel="has(self.secretKeyRef) != has(self.configMapKeyRef)", holds=_has_one_source, message=_ONE_SOURCE),
        Rule(
            cel="!self.path.split('/').exists(part, part == '.' || part == '..')",
            holds=lambda file: not {".", ".."} & set(file.path.split("/")),
            message="must not contain '.' or '..' as a part: write the path in full",
            field_path=".path",
        ),
    )


class EngineOptions(ApiModel):
    """Version and image of the engine, and what is passed on to it untouched."""

    version: Version | None = None
    """A version of the catalogue. Omitted: the catalogue's default."""
    image: ImageReference | None = None
    """An image of your own. Needs `version`: the catalogue version whose flags it speaks."""
    args: Annotated[tuple[Argument, ...], Field(max_length=128)] = ()
    """Arguments appended after the operator's own. What the operator owns is refused by name."""
    env: Annotated[tuple[EnvVar, ...], Field(max_length=128), Unique(("name",))] = ()
    """Environment variables of the engine. What the operator owns is refused by name."""
    files: Annotated[tuple[File, ...], Field(max_length=32), Unique(("path",))] = ()
    """Files from Secrets and ConfigMaps."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.image) || has(self.version)",
            holds=lambda options: options.image is None or options.version is not None,
            message="an image of your own needs a version beside it: name the catalogue version whose flags it speaks",
            field_path=".image",
        ),
    )
