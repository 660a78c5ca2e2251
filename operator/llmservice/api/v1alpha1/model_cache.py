"""Where a model is kept between starts: a claim that the user has, or one that the operator makes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.quantity import Quantity
from llmservice.api.v1alpha1.text import Form

ObjectName = Annotated[
    str,
    Field(min_length=1, max_length=253),
    Form(r"[a-z0-9]([-.a-z0-9]*[a-z0-9])?", "is not the name of an object: lower case letters, digits, - and ."),
]
AccessMode = Literal["ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"]


class CacheClaim(ApiModel):
    """A PersistentVolumeClaim: an existing one by its name, or one that the operator makes and owns."""

    name: ObjectName | None = None
    """Claim that exists; any number of services may share it. Omitted: the operator makes one for this service."""
    storage_class_name: ObjectName | None = None
    """Storage class of the claim that is made. Omitted: the cluster's default."""
    size: Quantity | None = None
    """Size of the claim that is made. Omitted: by the size of the model."""
    access_modes: Annotated[tuple[AccessMode, ...], Field(max_length=3), Unique()] = ()
    """Access modes of the claim that is made. Omitted: ReadWriteMany where several replicas are possible, else
    ReadWriteOnce."""
    when_deleted: Literal["Delete", "Retain"] = "Delete"
    """What becomes of the claim that was made when this object is deleted."""

    rules: ClassVar = (
        Rule(
            cel="!has(self.name) || (!has(self.storageClassName) && !has(self.size) && !has(self.accessModes))",
            holds=lambda claim: (
                claim.name is None or not (claim.storage_class_name or claim.size or claim.access_modes)
            ),
            message="names a claim that exists: remove storageClassName, size and accessModes, or the name",
            field_path=".name",
        ),
    )


class ModelCache(ApiModel):
    """Where the files of the model are kept, so that they are downloaded once and before a device is taken."""

    claim: CacheClaim
    """The claim. A Job downloads the model to it; replicas mount it read-only."""
