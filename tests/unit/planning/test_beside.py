"""What is loaded beside a model: from where, at which path, and what is refused."""

import dataclasses
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.models.download_request import DownloadRequest
from llmservice.planning.plan import plan_service
from llmservice.planning.service_plan import ServicePlan
from tests.builders import an_llmservice
from tests.unit.planning.planned import L4, facts_of, planned, refused

VLLM: dict[str, Any] = {"spec__engine": "vllm", "spec__model": {"uri": "pvc://models/base"}, **L4}
CACHED: dict[str, Any] = {"uri": "hf://acme/base", "cache": {"claim": {"name": "weights"}}}
LAW = {"name": "law", "uri": "pvc://models/law"}


def words(plan: ServicePlan) -> str:
    return " ".join(plan.container.args)


def with_adapters(*adapters: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**VLLM, "spec__adapters": list(adapters), **changes}


def test_an_adapter_on_the_models_claim_is_read_from_its_mount() -> None:
    plan = planned(**with_adapters(LAW))
    assert [each.path for each in plan.adapters] == ["/models/law"]
    assert [mount.path for mount in plan.pod.mounts if mount.read_only] == ["/models"]


def test_another_claim_is_mounted_once_beside_it_and_read_only() -> None:
    plan = planned(**with_adapters({"name": "a", "uri": "pvc://tuned/a"}, {"name": "b", "uri": "pvc://tuned/b"}))
    assert [each.path for each in plan.adapters] == ["/sources/tuned/a", "/sources/tuned/b"]
    (mount,) = (mount for mount in plan.pod.mounts if mount.path.startswith("/sources"))
    assert mount.source == {"persistentVolumeClaim": {"claimName": "tuned", "readOnly": True}}


def test_an_adapter_of_the_hub_is_named_by_its_repository() -> None:
    plan = planned(**with_adapters({"name": "law", "uri": "hf://acme/law"}))
    assert [each.path for each in plan.adapters] == ["acme/law"]


def test_the_hub_of_the_cluster_is_told_to_who_fetches_an_adapter_from_it() -> None:
    registry = dataclasses.replace(facts_of().registry, hf_endpoint="https://mirror.example")
    plain, adapted = (
        planned(registry=registry, **with_adapters(*adapters)) for adapters in ((), ({"name": "l", "uri": "a/l"},))
    )
    names = [{variable["name"] for variable in plan.container.environment} for plan in (plain, adapted)]
    assert ["HF_ENDPOINT" in each for each in names] == [False, True]


def cached(beside: dict[str, str], **changes: Any) -> ServicePlan:
    changes = {"spec__engine": "vllm", "spec__model": CACHED, **L4, **changes}
    service = LLMService.parse(an_llmservice(**changes))
    return plan_service(service, dataclasses.replace(facts_of(**changes), beside=beside))


def test_with_a_cache_adapters_are_downloaded_to_the_models_claim() -> None:
    """At their revision, from buckets too; the path is what the download answered."""
    adapters = [
        {"name": "law", "uri": "acme/law", "revision": "v2"},
        {"name": "tax", "uri": "s3://acme/tax"},
    ]
    law = DownloadRequest(uri="hf://acme/law", format="adapter", revision="v2")
    tax = DownloadRequest(uri="s3://acme/tax", format="adapter")
    before = cached({}, spec__adapters=adapters)
    assert before.cache is not None
    assert before.cache.missing == (law, tax)
    after = cached({law.key: "huggingface/hub/x"}, spec__adapters=adapters)
    assert after.cache is not None
    assert after.cache.missing == (tax,)
    assert [each.path for each in after.adapters] == ["/models/huggingface/hub/x", "/models/buckets/s3/acme/tax"]


def test_a_draft_model_is_downloaded_in_the_format_of_the_engine() -> None:
    gguf = {**CACHED, "file": "base.gguf", "draft": {"uri": "hf://acme/draft-GGUF", "file": "draft.gguf"}}
    for engine, form, model in (
        ("vllm", "safetensors", {**CACHED, "draft": {"uri": "hf://acme/draft"}}),
        ("llamacpp", "gguf", gguf),
    ):
        plan = planned(spec__engine=engine, spec__model=model, **L4)
        assert plan.cache is not None
        assert [each.format for each in plan.cache.missing] == [form]


def test_a_change_of_live_adapters_changes_no_pod() -> None:
    live = {"spec__adapterUpdates": "Live"}
    registry = dataclasses.replace(facts_of().registry, hf_endpoint="https://mirror.example")
    none, one, two = (
        planned(registry=registry, **with_adapters(*adapters, **live))
        for adapters in ((), (LAW,), (LAW, {"name": "b", "uri": "a/b"}))
    )
    assert none.container == one.container == two.container
    assert none.pod == one.pod == two.pod
    assert planned(**with_adapters(LAW)).container.args != one.container.args


@pytest.mark.parametrize(
    ("changes", "reason", "field"),
    [
        (with_adapters({**LAW, "name": "chat"}), Reason.INVALID_SPEC, "spec.adapters[0].name"),
        (with_adapters({**LAW, "revision": "main"}), Reason.UNSUPPORTED_FIELD, "spec.adapters[0].revision"),
        (
            with_adapters({"name": "l", "uri": "a/l", "revision": "main"}),
            Reason.UNSUPPORTED_FIELD,
            "spec.adapters[0].revision",
        ),
        (with_adapters({"name": "l", "uri": "s3://a/l"}), Reason.UNSUPPORTED_MODEL_SOURCE, "spec.adapters[0].uri"),
        (with_adapters({**LAW, "apply": "Always"}), Reason.UNSUPPORTED_FIELD, ""),
        (with_adapters({**LAW, "file": "a.gguf"}), Reason.UNSUPPORTED_FIELD, ""),
        (with_adapters(LAW, spec__engine="tgi"), Reason.UNSUPPORTED_FIELD, ""),
        ({**VLLM, "spec__engine": "tgi", "spec__adapterUpdates": "Live"}, Reason.UNSUPPORTED_FIELD, ""),
        ({**VLLM, "spec__model__projector": {"uri": "pvc://m/p.gguf"}}, Reason.UNSUPPORTED_FIELD, ""),
        (
            {"spec__model__projector": {"uri": "hf://a/b", "file": "p.gguf"}},
            Reason.UNSUPPORTED_MODEL_SOURCE,
            "spec.model.projector.uri",
        ),
        ({"spec__model__projector": {"uri": "pvc://m/p"}}, Reason.INVALID_SPEC, "spec.model.projector.file"),
        ({"spec__model__draft": {"uri": "a/b"}, "spec__model__task": "Embed"}, Reason.UNSUPPORTED_FIELD, ""),
        (
            {"spec__model__draft": {"uri": "a/b", "file": "guesses.gguf"}},
            Reason.UNSUPPORTED_FIELD,
            "spec.model.draft.file",
        ),
        (
            {"spec__adapters": [{"name": "l", "uri": "pvc://models/a,b.gguf"}]},
            Reason.INVALID_SPEC,
            "spec.adapters[0].uri",
        ),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(changes: dict[str, Any], reason: Reason, field: str) -> None:
    refusal = refused(**changes)
    assert (refusal.reason, refusal.field) == (reason, field)


def test_adapters_are_not_changed_live_behind_keys_that_the_operator_has_not() -> None:
    keys = {"spec__auth": {"keysSecretRef": {"name": "clients"}}}
    refusal = refused(**with_adapters(LAW, spec__adapterUpdates="Live", **keys))
    assert "spec.adapterUpdates" in str(refusal)
    assert planned(**with_adapters(LAW, **keys)).proxy is not None


def test_two_claims_with_the_names_of_others_do_not_clash() -> None:
    plan = planned(
        spec__model={
            "uri": "pvc://models/tiny.gguf",
            "projector": {"uri": "pvc://eyes/mmproj.gguf"},
            "draft": {"uri": "pvc://models/draft.gguf", "tokens": 4},
        },
    )
    assert "--mmproj /sources/eyes/mmproj.gguf" in words(plan)
    assert "--spec-draft-model /models/draft.gguf --spec-draft-n-max 4" in words(plan)
    names = [mount.name for mount in plan.pod.mounts]
    assert len(set(names)) == len(names)
