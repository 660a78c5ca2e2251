"""The weights cache: claim, size, access modes, what is downloaded, and what replicas get of it."""

import dataclasses
from typing import Any

import pytest

from llmservice.catalog.accelerator import Json
from llmservice.catalog.loader import load_catalogue
from llmservice.errors import ModelRefused
from llmservice.models.download_request import DownloadRequest
from llmservice.planning.cache_plan import CachePlan, OwnedClaim
from llmservice.planning.render_version import RENDER_VERSION
from llmservice.planning.service_plan import ServicePlan
from llmservice.reconcilers.planner import CataloguePlanner
from tests.unit.planning.planned import default_of, planned, refused
from tests.unit.reconcilers.test_planner import a_service, planned_before

_L4 = {"type": "L4"}
_GIB = 2**30
_PATH = "huggingface/hub/models--acme--chat/snapshots/" + "0a" * 20


def cached(uri: str = "hf://acme/chat", engine: str = "vllm", **changes: Any) -> dict[str, Any]:
    """A resource with a cache on a claim of its own."""
    model = {"uri": uri, "cache": {"claim": changes.pop("claim", {"name": "weights"})}, **changes.pop("model", {})}
    return {"spec__engine": engine, "spec__gpu": _L4, "spec__model": model, **changes}


def cache_of(plan: ServicePlan) -> CachePlan:
    assert plan.cache is not None
    return plan.cache


def owned_of(plan: ServicePlan) -> OwnedClaim:
    owned = cache_of(plan).owned
    assert owned is not None
    return owned


def environment(plan: ServicePlan) -> dict[str, Any]:
    return {each["name"]: each.get("value") for each in plan.container.environment}


def test_without_a_cache_replicas_load_the_model_from_where_it_is() -> None:
    assert planned(spec__engine="vllm", spec__gpu=_L4, spec__model={"uri": "hf://acme/chat"}).cache is None


@pytest.mark.parametrize(
    ("changes", "request_"),
    [
        (cached(model={"revision": "v1"}), DownloadRequest(uri="hf://acme/chat", revision="v1")),
        (cached("acme/chat", spec__quantization="fp8"), DownloadRequest(uri="hf://acme/chat")),
        (cached("gs://bucket/chat", "tgi"), DownloadRequest(uri="gs://bucket/chat")),
        (
            cached(engine="llamacpp", spec__quantization="Q8_0", model={"revision": "v1"}),
            DownloadRequest(uri="hf://acme/chat", format="gguf", quantization="Q8_0", revision="v1"),
        ),
        (
            cached("hf://acme/chat-Q4_K_M-GGUF", "llamacpp"),
            DownloadRequest(uri="hf://acme/chat-Q4_K_M-GGUF", format="gguf", quantization="Q4_K_M"),
        ),
        (cached(engine="llamacpp"), DownloadRequest(uri="hf://acme/chat", format="gguf")),
        (
            cached(engine="llamacpp", spec__quantization="Q8_0", model={"file": "sub/chat-Q8_0.gguf"}),
            DownloadRequest(uri="hf://acme/chat", format="gguf", file="sub/chat-Q8_0.gguf"),
        ),
        (cached("s3://bucket/a.gguf", "llamacpp"), DownloadRequest(uri="s3://bucket/a.gguf", format="gguf")),
    ],
)
def test_what_is_downloaded_is_what_the_engine_loads(changes: dict[str, Any], request_: DownloadRequest) -> None:
    assert cache_of(planned(**changes)).request == request_


def test_services_that_need_the_same_files_ask_for_the_same() -> None:
    ours = cache_of(planned(**cached("acme/chat"), metadata__name="ours")).request
    theirs = cache_of(planned(**cached(spec__quantization="online-fp8"), metadata__name="theirs")).request
    assert ours.key == theirs.key


def test_a_claim_of_the_users_is_not_made() -> None:
    cache = cache_of(planned(**cached()))
    assert (cache.claim, cache.owned) == ("weights", None)


def test_a_claim_is_made_for_the_service_with_its_size_from_the_model() -> None:
    plan = planned(**cached(claim={}, model={"facts": {"fileBytes": 10 * _GIB}}))
    assert cache_of(plan).claim == "chat-weights"
    assert cache_of(plan).expected_bytes == 10 * _GIB
    assert owned_of(plan) == OwnedClaim(storage_class="", size="13Gi", access_modes=("ReadWriteOnce",), retained=False)
    assert default_of(plan, "model.cache.claim.name") == "chat-weights"
    assert default_of(plan, "model.cache.claim.size") == "13Gi"
    assert default_of(plan, "model.cache.claim.accessModes") == "ReadWriteOnce"


def test_what_the_resource_says_of_the_claim_is_taken_as_it_is() -> None:
    claim = {"storageClassName": "fast", "size": "9Gi", "accessModes": ["ReadWriteOncePod"], "whenDeleted": "Retain"}
    plan = planned(**cached(claim=claim))
    expected = OwnedClaim(storage_class="fast", size="9Gi", access_modes=("ReadWriteOncePod",), retained=True)
    assert owned_of(plan) == expected
    assert default_of(plan, "model.cache.claim.size") == ""
    assert default_of(plan, "model.cache.claim.accessModes") == ""


def test_files_that_are_converted_on_load_have_their_own_size() -> None:
    parameters: dict[str, Any] = {"model": {"facts": {"parameters": 8_000_000_000, "dtype": "bfloat16"}}, "claim": {}}
    as_it_is = planned(**cached(**parameters))
    converted = planned(**cached(**parameters, spec__quantization="online-fp8"))
    assert owned_of(converted).size == owned_of(as_it_is).size == "19Gi"


def test_an_absurd_size_is_an_amount_nevertheless() -> None:
    assert owned_of(planned(**cached(claim={}, model={"facts": {"fileBytes": 2**53}}, spec__fit="Ignore"))).size


def test_a_claim_of_unknown_size_is_refused_with_the_field() -> None:
    error = refused(**cached("s3://bucket/chat", claim={}))
    assert (error.reason, error.field) == ("InvalidSpec", "spec.model.cache.claim.size")
    assert isinstance(error, ModelRefused), "it is looked at again"


def test_a_claim_that_has_no_room_for_the_model_is_told_before_it_is_made() -> None:
    facts = {"facts": {"fileBytes": 15 * _GIB}}
    small = planned(**cached(claim={"size": "1Gi"}, model=facts))
    assert any("1Gi" in note and "15.0 GiB" in note for note in small.notes)
    for claim in ({"size": "15Gi"}, {"size": "1Gi", "accessModes": ["ReadWriteMany"]}, {}):
        assert not any("no room" in note for note in planned(**cached(claim=claim, model=facts)).notes)


@pytest.mark.parametrize(
    ("changes", "mode"),
    [
        ({}, "ReadWriteOnce"),
        ({"spec__replicas": 2}, "ReadWriteMany"),
        ({"spec__autoscaling": {"maxReplicas": 2}}, "ReadWriteMany"),
        ({"spec__autoscaling": {"maxReplicas": 1}}, "ReadWriteOnce"),
        ({"spec__rollout__strategy": "Surge"}, "ReadWriteMany"),
        ({"spec__rollout__strategy": "Replace"}, "ReadWriteOnce"),
        ({"spec__rollout__strategy": "Auto"}, "ReadWriteOnce"),
    ],
)
def test_a_claim_is_for_several_nodes_where_several_replicas_may_run(changes: dict[str, Any], mode: str) -> None:
    assert owned_of(planned(**cached(claim={"size": "9Gi"}, **changes))).access_modes == (mode,)


@pytest.mark.parametrize(
    ("claim", "counted"),
    [
        ({"size": "9Gi"}, False),
        ({"size": "9Gi", "accessModes": ["ReadWriteOncePod"]}, False),
        ({"size": "9Gi", "accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, True),
        ({"name": "weights"}, True),
    ],
)
def test_no_replica_comes_first_where_the_claim_that_is_made_is_for_one_node(
    claim: dict[str, Any], counted: bool
) -> None:
    assert planned(**cached(claim=claim)).rollout.by_free_devices is counted


def test_a_file_that_is_no_single_one_is_refused() -> None:
    for model in ({"uri": "hf://a/b", "file": "*.gguf"}, {"uri": "s3://a/b.gguf", "file": "c.gguf"}):
        assert refused(**cached(engine="llamacpp", model=model)).field == "spec.model.file"


@pytest.mark.parametrize(
    ("field", "changes"),
    [
        ("revision", cached(model={"revision": "a/../../../x"})),
        ("revision", cached(model={"revision": "main/"})),
        ("file", cached(engine="llamacpp", model={"file": "a//b.gguf"})),
        ("file", cached(engine="llamacpp", model={"file": "a\\b.gguf"})),
        ("uri", cached("s3://b/a\\b")),
        ("uri", cached(f"s3://b/{'x' * 250}")),
        ("uri", cached(f"hf://{'x' * 150}/{'y' * 150}")),
    ],
)
def test_names_that_no_download_takes_are_refused_before_a_job_is_made(field: str, changes: dict[str, Any]) -> None:
    error = refused(**changes)
    assert (error.reason, error.field) == ("InvalidSpec", f"spec.model.{field}")


@pytest.mark.parametrize("engine", ["vllm", "tgi", "llamacpp"])
@pytest.mark.parametrize("uri", ["hf://acme/chat", "s3://b/chat", "gs://b/chat", "az://b/chat"])
def test_every_engine_loads_from_everywhere_with_a_cache(engine: str, uri: str) -> None:
    plan = planned(**cached(uri, engine, spec__engineOptions={"version": "0.24.0"} if engine == "vllm" else {}))
    assert cache_of(plan).weights == ""
    assert any(word.partition("=")[2].startswith("/models/") or word.startswith("/models/") for word in _words(plan))


def test_a_revision_is_for_every_engine_with_a_cache() -> None:
    assert cache_of(planned(**cached(engine="llamacpp", model={"revision": "v1"}))).request.revision == "v1"


_PLANNER = CataloguePlanner(load_catalogue())


@pytest.mark.parametrize(
    ("engine", "path", "words"),
    [
        ("vllm", _PATH, ("serve", f"/models/{_PATH}")),
        ("tgi", _PATH, (f"--model-id=/models/{_PATH}",)),
        ("llamacpp", f"{_PATH}/chat-Q4_K_M.gguf", ("--model", f"/models/{_PATH}/chat-Q4_K_M.gguf")),
    ],
)
def test_what_the_download_answered_is_loaded_from_the_claim_without_a_hub(
    engine: str, path: str, words: tuple[str, ...]
) -> None:
    token = {"tokenSecretRef": {"name": "hub", "key": "token"}}
    plan = _PLANNER(a_service(**cached(engine=engine, model=token)), None, path)
    assert cache_of(plan).weights == path
    assert set(words) <= {*plan.container.command, *plan.container.args}
    assert not [word for word in plan.container.args if word.startswith("--revision")]
    assert "HF_TOKEN" not in environment(plan)
    if engine != "llamacpp":
        assert environment(plan)["HF_HUB_OFFLINE"] == environment(plan)["TRANSFORMERS_OFFLINE"] == "1"
    assert plan.pod.mounts[0].read_only


def test_the_path_is_kept_with_the_generation_and_is_no_reason_for_an_update() -> None:
    service = a_service(**cached())
    before = _PLANNER(service)
    plan = _PLANNER(planned_before(before, **cached()), None, _PATH)
    assert cache_of(plan).weights == _PATH
    again = _PLANNER(planned_before(plan, **cached()))
    assert cache_of(again).weights == _PATH
    assert again.facts == plan.facts
    assert CataloguePlanner(_PLANNER.catalogue).newest(service, plan) is None


def test_facts_without_a_path_are_written_as_before_there_was_one() -> None:
    assert '"weights"' not in _PLANNER(a_service(**cached())).facts


def test_other_devices_load_the_same_files() -> None:
    changes = cached(spec__gpu={"type": "L4", "alternatives": [{"type": "A10G"}]})
    following = _PLANNER.next_choice(a_service(**changes), _PLANNER(a_service(**changes), None, _PATH), "no node")
    assert following is not None
    assert (following.accelerator, cache_of(following).weights) == ("A10G", _PATH)


@pytest.mark.parametrize("path", ["", "/etc/passwd", "huggingface/hub/../../b", "etc/passwd", "huggingface/hub/a b"])
def test_an_answer_that_is_no_path_on_the_claim_is_none(path: str) -> None:
    assert cache_of(_PLANNER(a_service(**cached()), None, path)).weights == ""


def test_no_variable_is_expanded_in_a_path() -> None:
    """The kubelet makes one dollar of two (k8s.io/kubernetes, third_party/forked/golang/expansion/expand.go)."""
    for name in ("$(HOME)-Q8_0.gguf", "$$(HOME)-Q8_0.gguf", "a$b-Q8_0.gguf"):
        plan = _PLANNER(a_service(**cached(engine="llamacpp")), None, f"buckets/s3/b/{name}")
        assert f"/models/buckets/s3/b/{name.replace('$', '$$')}" in plan.container.args


def _compiled(plan: ServicePlan) -> str:
    return next((mount.sub_path for mount in plan.pod.mounts if mount.path == "/compiled"), "")


def test_vllm_keeps_what_it_compiles_on_the_claim() -> None:
    plan = planned(**cached())
    models, compiled = plan.pod.mounts[:2]
    assert models.source == compiled.source == {"persistentVolumeClaim": {"claimName": "weights"}}
    assert (models.name, models.read_only) == (compiled.name, not compiled.read_only)
    assert compiled.sub_path.startswith("compile/")
    assert environment(plan)["VLLM_CACHE_ROOT"] == "/compiled"
    assert environment(plan)["TRITON_CACHE_DIR"].startswith("/compiled/")


def test_what_was_compiled_is_for_the_same_image_model_and_devices_alone() -> None:
    ours = planned(**cached())
    others = (
        cached("hf://acme/other"),
        cached(spec__gpu={"type": "A10G"}),
        cached(spec__gpu={"type": "L4", "count": 2}),
        cached(spec__engineOptions={"version": "0.24.0"}),
        cached(spec__pod__securityContext={"runAsUser": 4711}),
    )
    folders = {_compiled(planned(**changes)) for changes in others}
    assert len(folders | {_compiled(ours)}) == len(others) + 1
    assert _compiled(planned(**cached(), metadata__name="another")) == _compiled(ours)


@pytest.mark.parametrize("changes", [cached(engine="tgi"), cached(engine="llamacpp"), cached(spec__gpu={"count": 0})])
def test_where_nothing_worth_keeping_is_compiled_the_claim_is_read_only(changes: dict[str, Any]) -> None:
    """On a CPU it is for that very processor."""
    plan = planned(**changes)
    assert _compiled(plan) == ""
    assert plan.pod.mounts[0].source == {"persistentVolumeClaim": {"claimName": "weights", "readOnly": True}}
    assert environment(plan).get("VLLM_CACHE_ROOT", "/cache/vllm") == "/cache/vllm"


def _disk(plan: ServicePlan) -> tuple[str | None, Json]:
    scratch = next(mount for mount in plan.pod.mounts if mount.path == "/cache")
    return plan.container.resource_requests.get("ephemeral-storage"), scratch.source


@pytest.mark.parametrize("uri", ["pvc://claim/hub?repo=acme/chat", "pvc://claim", "oci://host/image:1", ""])
def test_a_mounted_model_takes_no_room_on_the_node_and_no_time_on_the_network(uri: str) -> None:
    facts = {"facts": {"fileBytes": 500 * 10**9}}
    usual: dict[str, Any] = {"spec__engine": "vllm", "spec__gpu": _L4, "spec__fit": "Ignore"}
    model = {"uri": uri, **facts} if uri else cached(model=facts)["spec__model"]
    mounted = planned(**usual, spec__model=model)
    downloaded = planned(**usual, spec__model={"uri": "hf://acme/chat", **facts})
    assert _disk(mounted) == (None, {"emptyDir": {}})
    assert _disk(downloaded)[0] is not None
    assert mounted.container.startup_seconds < downloaded.container.startup_seconds


def test_the_plan_says_that_the_model_is_downloaded_first() -> None:
    before = _PLANNER(a_service(**cached()))
    after = _PLANNER(a_service(**cached()), None, _PATH)
    assert [any("weights" in note for note in plan.notes) for plan in (before, after)] == [True, False]
    gated = {"facts": {"gated": True}}
    said = [_PLANNER(a_service(**cached(model=gated)), None, path).notes for path in ("", _PATH)]
    assert [any("gated" in note for note in notes) for notes in said] == [True, False]


def _words(plan: ServicePlan) -> tuple[str, ...]:
    return (*plan.container.command, *plan.container.args)


def test_a_plan_that_a_newer_operator_made_keeps_its_facts() -> None:
    newer = dataclasses.replace(_PLANNER(a_service(**cached())))
    text = newer.facts.replace(f'"render_version":{RENDER_VERSION}', '"render_version":99')
    kept = _PLANNER(planned_before(dataclasses.replace(newer, facts=text), **cached()), None, _PATH)
    assert kept.render_version == 99
    assert cache_of(kept).weights == _PATH
