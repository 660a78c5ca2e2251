"""llama.cpp: one meaning of context and concurrency, which file is loaded, and what its log lines mean."""

import dataclasses
from typing import Any

import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.engine import Launch, ModelSource, ServingRequest
from llmservice.engines.llamacpp.engine import ENGINE as LLAMACPP
from llmservice.errors import InvalidSpec

VERSION = load_catalogue().engine_version("llamacpp", "b11312")
HUB = ModelSource(scheme="hf", repository="acme/chat-7B-GGUF")
VOLUME = ModelSource(scheme="pvc", path="/models/tiny.gguf")


def launched(**changes: Any) -> Launch:
    request = ServingRequest(
        names=("chat",), model=VOLUME, version=VERSION, devices=0, max_model_len=4096, max_num_seqs=2, drain_seconds=60
    )
    return LLAMACPP.launch(dataclasses.replace(request, **changes))


def option(launch: Launch, flag: str) -> str:
    return launch.args[launch.args.index(flag) + 1] if flag in launch.args else ""


@pytest.mark.parametrize(
    ("tokens", "requests", "context", "cap"),
    [(4096, 2, "8192", "4096"), (700, 2, "1536", "700"), (1, 1, "256", "1"), (8192, 64, "524288", "8192")],
)
def test_every_slot_holds_exactly_one_request(tokens: int, requests: int, context: str, cap: str) -> None:
    """A slot owns a multiple of 256 tokens and may use max_model_len of them."""
    launch = launched(max_model_len=tokens, max_num_seqs=requests)
    assert option(launch, "--ctx-size") == context
    assert option(launch, "--kv-unified-per-slot") == cap
    assert option(launch, "--parallel") == str(requests)
    assert "--no-kv-unified" in launch.args


@pytest.mark.parametrize("build", ["b9445", "b10454"])
@pytest.mark.parametrize(("tokens", "context"), [(4096, "8192"), (700, "1536")])
def test_a_slot_of_an_older_build_holds_one_request_and_at_most_255_tokens_more(
    build: str, tokens: int, context: str
) -> None:
    older = load_catalogue().engine_version("llamacpp", build)
    launch = launched(version=older, max_model_len=tokens, max_num_seqs=2)
    assert (option(launch, "--ctx-size"), option(launch, "--parallel")) == (context, "2")
    assert {"--no-kv-unified", "--fit"} <= set(launch.args)
    assert "--kv-unified-per-slot" not in launch.args


def test_nothing_shrinks_to_fit() -> None:
    assert option(launched(), "--fit") == "off"


@pytest.mark.parametrize(("devices", "layers"), [(0, "0"), (1, "all"), (2, "all")])
def test_all_layers_are_on_the_devices_or_none(devices: int, layers: str) -> None:
    assert option(launched(devices=devices), "--n-gpu-layers") == layers


@pytest.mark.parametrize(("requests", "threads"), [(1, "256"), (64, "256"), (200, "800")])
def test_threads_are_there_before_a_burst_of_requests(requests: int, threads: str) -> None:
    assert launched(max_num_seqs=requests).environment["LLAMA_ARG_THREADS_HTTP"] == threads


def test_all_names_are_aliases() -> None:
    assert option(launched(names=("chat", "acme/chat-7B")), "--alias") == "chat,acme/chat-7B"


@pytest.mark.parametrize(
    ("model", "quantization", "flag", "value"),
    [
        (VOLUME, "auto", "--model", "/models/tiny.gguf"),
        (HUB, "Q8_0", "-hf", "acme/chat-7B-GGUF:Q8_0"),
        (HUB, "UD-IQ4_XS", "-hf", "acme/chat-7B-GGUF:UD-IQ4_XS"),
        (HUB, "auto", "-hf", "acme/chat-7B-GGUF"),
        (ModelSource(scheme="hf", repository="acme/chat-Q8_0-GGUF"), "auto", "-hf", "acme/chat-Q8_0-GGUF:Q8_0"),
        (dataclasses.replace(HUB, file="chat-Q8_0.gguf"), "auto", "-hff", "chat-Q8_0.gguf"),
        (dataclasses.replace(HUB, file="chat-Q8_0.gguf"), "Q8_0", "-hf", "acme/chat-7B-GGUF"),
    ],
)
def test_one_file_is_named(model: ModelSource, quantization: str, flag: str, value: str) -> None:
    assert option(launched(model=model, quantization=quantization), flag) == value


def test_a_default_quantization_has_its_reason() -> None:
    (default,) = launched(model=ModelSource(scheme="hf", repository="acme/chat-Q8_0-GGUF")).defaults
    assert (default.field, default.value) == ("quantization", "Q8_0")
    assert default.reason


def test_a_file_that_is_left_to_the_engine_is_noted() -> None:
    launch = launched(model=HUB)
    assert launch.defaults == ()
    assert [[word for word in ("Q4_K_M", "spec.model.file") if word in note] for note in launch.notes] == [
        ["Q4_K_M", "spec.model.file"]
    ]


def test_a_file_of_an_unknown_quantization_agrees_with_its_own_name() -> None:
    file = dataclasses.replace(HUB, file="chat-UD-IQ4_XS.gguf")
    assert launched(model=file, quantization="UD-IQ4_XS").notes == ()


@pytest.mark.parametrize(("devices", "layers", "shown"), [(1, None, "all"), (1, 20, "20"), (2, 1, "1")])
def test_some_layers_are_on_the_devices_where_it_is_asked_for(devices: int, layers: int | None, shown: str) -> None:
    assert option(launched(devices=devices, offload_layers=layers), "--n-gpu-layers") == shown


@pytest.mark.parametrize(
    ("changes", "threads", "verbosity"),
    [
        ({"devices": 0}, "3", None),
        ({"devices": 1}, None, "4"),
        ({"devices": 1, "offload_layers": 20}, "3", "4"),
    ],
)
def test_threads_are_counted_where_the_cpu_computes_and_devices_are_told(
    changes: dict[str, Any], threads: str | None, verbosity: str | None
) -> None:
    environment = launched(cores=2.5, **changes).environment
    assert (environment.get("LLAMA_ARG_THREADS"), environment.get("LLAMA_ARG_LOG_VERBOSITY")) == (threads, verbosity)


def test_a_file_that_contradicts_the_quantization_is_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"Q4_K_M.* chat-Q8_0\.gguf \(Q8_0\)") as caught:
        launched(model=dataclasses.replace(HUB, file="chat-Q8_0.gguf"), quantization="Q4_K_M")
    assert caught.value.reason == "QuantizationMismatch"


def test_a_quantization_that_cannot_be_checked_is_noted() -> None:
    (note,) = launched(quantization="Q4_K_M").notes
    assert {"tiny.gguf", "Q4_K_M"} <= set(note.split())


def test_both_halves_of_the_kv_cache_get_the_format() -> None:
    launch = launched(kv_cache_dtype="q8_0")
    assert (option(launch, "--cache-type-k"), option(launch, "--cache-type-v")) == ("q8_0", "q8_0")


def test_an_unknown_format_of_the_kv_cache_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.kvCacheDtype: fp8 .* f32, f16, .* q8_0"):
        launched(kv_cache_dtype="fp8")


@pytest.mark.parametrize(
    ("cores", "memory_gib", "threads", "cache_mib"),
    [(0.0, 0, "", ""), (0.5, 0, "1", ""), (3.5, 4, "4", "1024"), (0.0, 64, "", "")],
)
def test_limits_of_the_container_are_kept(cores: float, memory_gib: int, threads: str, cache_mib: str) -> None:
    launch = launched(cores=cores, memory_bytes=memory_gib * 2**30)
    found = launch.environment
    assert (found.get("LLAMA_ARG_THREADS", ""), found.get("LLAMA_ARG_CACHE_RAM", "")) == (threads, cache_mib)


def test_threads_are_the_engines_business_on_devices() -> None:
    assert "LLAMA_ARG_THREADS" not in launched(cores=2.0, devices=1).environment


def test_a_flag_the_version_does_not_know_is_left_out_with_its_value() -> None:
    older = dataclasses.replace(VERSION, flags=VERSION.flags - {"--kv-unified-per-slot"})
    launch = launched(version=older)
    assert "--kv-unified-per-slot" not in launch.args
    assert launch.args[launch.args.index("--no-kv-unified") + 1] == "--fit"
