"""How the current pod template is rolled out: an annotation that is written together with the template.

So an operator that was killed in between finds the choice that was made, and no later pass chooses again.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace

import orjson

from llmservice.converging.intent import covers, digest_of, with_digest
from llmservice.objects.names import ROLLOUT_ANNOTATION
from llmservice.objects.references import Manifest
from llmservice.objects.workloads import is_workload, template_of, with_strategy
from llmservice.planning.rollout import shape_of
from llmservice.untrusted.patterns import compiled

LONGEST_MESSAGE = 200
"""An annotation is cached up to 256 characters."""

_WRITTEN = compiled(r"(?P<template>[0-9a-f]{24}) (?P<strategy>Replace|Surge) ?(?P<message>.*)")


@dataclass(frozen=True, slots=True)
class RolloutRecord:
    """The choice for one pod template, which `template` identifies. `message` is empty where nothing was announced."""

    template: str
    strategy: str = "Replace"
    message: str = ""

    def as_text(self) -> str:
        """The value of the annotation."""
        return f"{self.template} {self.strategy} {self.message[:LONGEST_MESSAGE]}".rstrip()

    def switched(self, message: str) -> "RolloutRecord":
        """The same rollout, in place from now on."""
        return replace(self, strategy="Replace", message=message)


def record_of(deployment: Manifest) -> RolloutRecord | None:
    """What a Deployment says of its rollout; None where it says nothing, or nothing that can be read."""
    text = str((deployment["metadata"].get("annotations") or {}).get(ROLLOUT_ANNOTATION, ""))
    found = _WRITTEN.whole(text) if len(text) <= 2 * LONGEST_MESSAGE else None
    if found is None:
        return None
    return RolloutRecord(found["template"], found["strategy"], found["message"])


def template_digest(deployment: Manifest) -> str:
    """Identifies the pod template of an intent."""
    body = orjson.dumps(template_of(deployment), option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(body, digest_size=12).hexdigest()


def recorded(deployment: Manifest, record: RolloutRecord) -> Manifest:
    """The intent with this record, and the strategy that it says."""
    surge, unavailable = shape_of(record.strategy)
    metadata = deployment["metadata"]
    annotations = {**metadata.get("annotations", {}), ROLLOUT_ANNOTATION: record.as_text()}
    spec = with_strategy(deployment, surge, unavailable)
    return {**deployment, "metadata": {**metadata, "annotations": annotations}, "spec": spec}


def replacing(deployment: Manifest, manifests: Iterable[Manifest]) -> list[Manifest]:
    """The manifests with this one in place of the workload."""
    return [deployment if is_workload(manifest) else manifest for manifest in manifests]


def changes_template(live: Manifest, intent: Manifest) -> bool:
    """Whether writing the intent gives the replicas another pod template.

    Without a record the fields tell. Those that the intent no longer has do not show in them: where nothing differs but
    the digest of the whole intent, fields were dropped, and they may be the template's.
    """
    record = record_of(live)
    if record is not None:
        return record.template != template_digest(intent)
    if digest_of(live) == digest_of(with_digest(intent)):
        return False
    return not covers(template_of(live), template_of(intent)) or covers(live, intent)
