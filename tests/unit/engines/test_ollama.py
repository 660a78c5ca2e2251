import re
from typing import Any

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.arguments import check_arguments
from llmservice.engines.engine import Launch, ModelSource, ServingRequest
from llmservice.engines.ollama.engine import ENGINE as OLLAMA
from llmservice.engines.ollama.names import name_in
from llmservice.engines.start_report import StartReport
from llmservice.engines.timed_log import timed_log
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version

VERSIONS = sorted(load_catalogue().engines["ollama"].versions)
IN_REGISTRY = ModelSource(scheme="ollama", repository="ollama://llama3.2:3b")


def a_launch(model: ModelSource = IN_REGISTRY, **changes: Any) -> Launch:
    return OLLAMA.launch(asked(model, **changes))


def asked(model: ModelSource = IN_REGISTRY, **changes: Any) -> ServingRequest:
    return a_request(a_version("ollama"), **{"model": model, "host": "127.0.0.1", "port": 8001, **changes})


@pytest.mark.parametrize(
    ("model", "quantization", "source"),
    [
        (IN_REGISTRY, "auto", ("pull", "llama3.2:3b")),
        (
            ModelSource(scheme="ollama", repository="ollama://registry.example.com:5000/team/chat:v2"),
            "auto",
            ("pull", "registry.example.com:5000/team/chat:v2"),
        ),
        (ModelSource(scheme="hf", repository="acme/chat-7B-GGUF"), "auto", ("pull", "hf.co/acme/chat-7B-GGUF")),
        (ModelSource(scheme="hf", repository="acme/chat-7B-GGUF"), "Q8_0", ("pull", "hf.co/acme/chat-7B-GGUF:Q8_0")),
        (
            ModelSource(scheme="hf", repository="acme/chat-Q4_0-GGUF"),
            "auto",
            ("pull", "hf.co/acme/chat-Q4_0-GGUF:Q4_0"),
        ),
        (
            ModelSource(scheme="hf", repository="acme/chat-7B-GGUF", file="chat.Q6_K.gguf"),
            "auto",
            ("pull", "hf.co/acme/chat-7B-GGUF:chat.Q6_K.gguf"),
        ),
        (ModelSource(scheme="pvc", claim="models", path="/models/chat.gguf"), "auto", ("create", "/models/chat.gguf")),
        (
            ModelSource(scheme="oci", image="example.com/chat:1", path="/models", file="chat.gguf"),
            "auto",
            ("create", "/models/chat.gguf"),
        ),
    ],
)
def test_a_model_is_pulled_by_its_name_or_made_of_its_file(
    model: ModelSource, quantization: str, source: tuple[str, str]
) -> None:
    launch = a_launch(model, quantization=quantization, names=("chat", "team/assistant:v1"))
    assert launch.args == (*source, "chat", "team/assistant:v1")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("chat", "chat:latest"),
        ("llama3.2:3b", "llama3.2:3b"),
        ("library/chat", "chat:latest"),
        ("team/chat", "team/chat:latest"),
        ("example.com:5000/team/chat:v2", "example.com:5000/team/chat:v2"),
    ],
)
def test_it_is_ready_when_the_model_has_its_name(name: str, shown: str) -> None:
    launch = a_launch(names=(name, "other"))
    for probe in (launch.probes.startup, launch.probes.readiness):
        assert (probe.path, probe.expects) == ("/api/tags", f'"name":"{shown}"')
    assert not launch.probes.liveness.expects, "a model that is loaded again is no reason to restart"


@pytest.mark.parametrize(
    "name", ["a/b/c/d", "team.a/chat", "x" * 81, "chat:" + "x" * 81, "llmservice/preloaded", "a b"]
)
def test_a_name_that_it_would_refuse_is_refused_before(name: str) -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.model\.names: ") as caught:
        a_launch(names=("chat", name))
    assert caught.value.reason == Reason.UNSUPPORTED_FIELD


def test_a_shorter_name_is_of_its_own_registry() -> None:
    found = name_in("chat")
    assert found is not None
    assert (found.host, found.namespace, found.tag) == ("registry.ollama.ai", "library", "latest")


@pytest.mark.parametrize(
    ("model", "changes", "field"),
    [
        (IN_REGISTRY, {"quantization": "Q4_0"}, "spec.quantization"),
        (ModelSource(scheme="ollama", repository="ollama://chat", file="chat.gguf"), {}, "spec.model.file"),
        (ModelSource(scheme="ollama", repository="ollama://a/b/c/d"), {}, "spec.model.uri"),
        (ModelSource(scheme="hf", repository=f"acme/{'x' * 90}"), {}, "spec.model.uri"),
        (ModelSource(scheme="pvc", claim="models", path="/models/chat-00001-of-00002.gguf"), {}, "spec.model.file"),
        (IN_REGISTRY, {"kv_cache_dtype": "fp8"}, "spec.kvCacheDtype"),
    ],
)
def test_what_it_cannot_do_is_refused_by_its_field(model: ModelSource, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSpec, match=re.escape(field) + ": "):
        a_launch(model, **changes)


def test_each_request_has_its_own_context() -> None:
    environment = a_launch(max_model_len=5000, max_num_seqs=3).environment
    assert (environment["OLLAMA_CONTEXT_LENGTH"], environment["OLLAMA_NUM_PARALLEL"]) == ("5000", "3")
    assert int(a_launch(max_num_seqs=900).environment["OLLAMA_MAX_QUEUE"]) >= 900


def test_it_listens_where_the_proxy_is() -> None:
    assert a_launch().environment["OLLAMA_HOST"] == "127.0.0.1:8001"


@pytest.mark.parametrize(("dtype", "flash"), [("", None), ("f16", None), ("q8_0", "1"), ("q4_0", "1")])
def test_a_quantized_cache_needs_flash_attention(dtype: str, flash: str | None) -> None:
    environment = a_launch(kv_cache_dtype=dtype).environment
    assert environment.get("OLLAMA_KV_CACHE_TYPE", "") == dtype
    assert environment.get("OLLAMA_FLASH_ATTENTION") == flash


def test_devices_are_hidden_on_the_cpu_and_all_used_where_there_are_several() -> None:
    cpu, one, two = (a_launch(devices=devices).environment for devices in (0, 1, 2))
    assert cpu["CUDA_VISIBLE_DEVICES"] == "-1"
    assert "CUDA_VISIBLE_DEVICES" not in one
    assert ("OLLAMA_SCHED_SPREAD" in one, two["OLLAMA_SCHED_SPREAD"]) == (False, "1")


@pytest.mark.parametrize("version", VERSIONS)
def test_every_variable_that_is_set_is_one_that_the_version_reads_and_users_cannot(version: str) -> None:
    rows = load_catalogue().engines["ollama"]
    launch = OLLAMA.launch(a_request(a_version("ollama", version), model=IN_REGISTRY, devices=2, kv_cache_dtype="f16"))
    for name in launch.environment:
        if name.startswith("OLLAMA_"):
            assert name in rows.recordings[version].variables
            with pytest.raises(InvalidSpec, match=name):
                check_arguments(OLLAMA, rows.versions[version], [], [name])


def test_a_start_on_the_cpu_is_read() -> None:
    text = (
        'level=INFO source=types.go:60 msg="inference compute" id=cpu library=cpu compute="" name=cpu description=cpu '
        'libdirs=ollama driver="" pci_id="" type="" total="23.5 GiB" available="22.1 GiB"\n'
        'level=INFO source=device.go:256 msg="kv cache" device=CPU size="512.0 KiB"\n'
        'level=INFO source=runner.go:895 msg=load request="{Operation:commit LoraPath:[] Parallel:4 BatchSize:512 '
        "FlashAttention:Auto KvSize:2048 KvCacheType: NumThreads:2 GPULayers:[] MultiUserCache:false ProjectorPath: "
        'MainGPU:0 UseMmap:false}"\n'
    )
    assert OLLAMA.start_report(text) == StartReport(
        backend="cpu", kv_bytes=2**19, kv_tokens=2048, full_length_requests=4.0, request_tokens=512
    )


def test_a_start_on_devices_is_read() -> None:
    """Lines as printed by the source of v0.17.4; the load request as in issue 13805 of its repository."""
    text = (
        'level=INFO source=types.go:42 msg="inference compute" id=GPU-d0364f00 filter_id="" library=CUDA compute=8.9 '
        'name=CUDA0 description="NVIDIA GeForce RTX 4090" libdirs=ollama,cuda_v13 driver=13.0 pci_id=0000:01:00.0 '
        'type=discrete total="24.0 GiB" available="23.1 GiB"\n'
        'level=INFO source=runner.go:1278 msg=load request="{Operation:fit LoraPath:[] Parallel:1 BatchSize:512 '
        'FlashAttention:Enabled KvSize:99 KvCacheType: NumThreads:6 GPULayers:[]}"\n'
        'level=INFO source=runner.go:1278 msg=load request="{Operation:commit LoraPath:[] Parallel:2 BatchSize:512 '
        "FlashAttention:Enabled KvSize:65536 KvCacheType: NumThreads:6 GPULayers:48[ID:GPU-d0364f00 Layers:48(0..47)] "
        'MultiUserCache:false ProjectorPath: MainGPU:0 UseMmap:false}"\n'
        'level=INFO source=ggml.go:494 msg="offloaded 47/49 layers to GPU"\n'
        'level=INFO source=device.go:251 msg="kv cache" device=CUDA0 size="1.5 GiB"\n'
        'level=INFO source=device.go:256 msg="kv cache" device=CPU size="64.0 MiB"\n'
    )
    report = OLLAMA.start_report(text)
    assert report == StartReport(
        backend="cuda",
        devices=("CUDA0 (NVIDIA GeForce RTX 4090)",),
        device_count=1,
        offloaded_layers=47,
        layers=49,
        kv_bytes=3 * 2**29,
        kv_tokens=65536,
        full_length_requests=2.0,
        request_tokens=32768,
    )
    assert report.is_partial


def test_the_parts_of_a_start_are_those_of_its_program() -> None:
    log = timed_log(
        "2026-11-22T17:25:33.000000000Z llmservice: fetching llama3.2:3b\n"
        "2026-11-22T17:25:45.500000000Z llmservice: fetched\n"
        "2026-11-22T17:25:47.000000000Z llmservice: loading\n"
        "2026-11-22T17:25:59.000000000Z llmservice: serving chat\n"
    )
    times = OLLAMA.start_times(log)
    assert times.download_seconds == pytest.approx(12.5)
    assert times.loaded_at == log.times[3]


def test_a_file_of_a_volume_is_not_downloaded() -> None:
    log = timed_log(
        "2026-11-22T17:25:33.000000000Z llmservice: fetching /models/chat.gguf\n"
        "2026-11-22T17:25:45.500000000Z llmservice: fetched\n"
    )
    assert OLLAMA.start_times(log).download_seconds is None
