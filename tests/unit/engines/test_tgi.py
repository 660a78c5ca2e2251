import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.loader import load_catalogue
from llmservice.engines.arguments import check_arguments
from llmservice.engines.engine import ModelSource
from llmservice.engines.tgi.engine import ENGINE as TGI
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version, option

VERSIONS = sorted(load_catalogue().engines["tgi"].versions)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (ModelSource(scheme="hf", repository="owner/model"), "owner/model"),
        (ModelSource(scheme="pvc", path="/models/mistral"), "/models/mistral"),
    ],
)
def test_names_the_model_and_keeps_the_images_entrypoint(model: ModelSource, named: str) -> None:
    launch = TGI.launch(a_request(a_version("tgi"), model=model))
    assert (launch.command, option(launch, "--model-id")) == ((), named)


def test_every_argument_is_one_word() -> None:
    model = ModelSource(scheme="hf", repository="owner/model", revision="v1")
    request = a_request(a_version("tgi"), model=model, devices=2, quantization="online-nf4", trust_remote_code=True)
    assert [word for word in TGI.launch(request).args if word.split() != [word]] == []


def test_no_option_stands_twice() -> None:
    flags = [word.partition("=")[0] for word in TGI.launch(a_request(a_version("tgi", "3.3.5"))).args]
    assert len(flags) == len(set(flags))


@pytest.mark.parametrize("tokens", [2, 2048, 32768])
def test_a_prompt_leaves_room_for_an_answer_and_fits_one_step(tokens: int) -> None:
    launch = TGI.launch(a_request(a_version("tgi"), max_model_len=tokens))
    prompt, whole = option(launch, "--max-input-tokens"), option(launch, "--max-total-tokens")
    assert (prompt, whole) == (str(tokens - 1), str(tokens))
    assert int(launch.environment["MAX_BATCH_PREFILL_TOKENS"]) >= tokens


def test_one_token_is_too_few() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.maxModelLen: .* 2 "):
        TGI.launch(a_request(a_version("tgi"), max_model_len=1))


@pytest.mark.parametrize(("requests", "limit"), [(1, "128"), (32, "128"), (64, "256")])
def test_load_queues_before_it_is_refused(requests: int, limit: str) -> None:
    launch = TGI.launch(a_request(a_version("tgi"), max_num_seqs=requests))
    assert option(launch, "--max-batch-size") == str(requests)
    assert option(launch, "--max-concurrent-requests") == limit
    assert str(limit) in launch.notes[0].split()


@pytest.mark.parametrize(("devices", "shards"), [(0, None), (1, "1"), (4, "4")])
def test_spreads_over_the_devices_of_the_replica(devices: int, shards: str | None) -> None:
    assert option(TGI.launch(a_request(a_version("tgi"), devices=devices)), "--num-shard") == shards


@pytest.mark.parametrize("checkpoint", ["auto", "awq", "gptq", "fp8", "exl2"])
def test_says_nothing_about_a_checkpoint_that_is_quantized(checkpoint: str) -> None:
    assert option(TGI.launch(a_request(a_version("tgi"), quantization=checkpoint)), "--quantize") is None


@pytest.mark.parametrize(
    ("asked", "own"),
    [("online-fp8", "fp8"), ("online-int8", "eetq"), ("online-nf4", "bitsandbytes-nf4")],
)
def test_calls_a_quantization_on_load_by_its_own_name(asked: str, own: str) -> None:
    assert option(TGI.launch(a_request(a_version("tgi"), quantization=asked)), "--quantize") == own


def test_quantizing_and_a_dtype_exclude_each_other() -> None:
    request = a_request(a_version("tgi"), quantization="online-fp8", dtype="float16")
    with pytest.raises(InvalidSpec, match=r"spec\.dtype: .* online-"):
        TGI.launch(request)


def test_a_quantized_checkpoint_may_have_a_dtype() -> None:
    launch = TGI.launch(a_request(a_version("tgi"), quantization="awq", dtype="float16"))
    assert (option(launch, "--dtype"), option(launch, "--quantize")) == ("float16", None)


def test_exl2_stays_on_one_device() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.gpu\.count: 1"):
        TGI.launch(a_request(a_version("tgi"), quantization="exl2", devices=2))


def test_an_unknown_kv_cache_dtype_names_the_field() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.kvCacheDtype: fp8 .* fp8_e4m3fn, fp8_e5m2"):
        TGI.launch(a_request(a_version("tgi"), kv_cache_dtype="fp8"))


def test_listens_where_the_service_looks_whatever_the_image_and_the_pod_say() -> None:
    launch = TGI.launch(a_request(a_version("tgi")))
    assert "--port=8000" in launch.args
    assert "--hostname=0.0.0.0" in launch.args


def test_finishes_requests_after_sigterm() -> None:
    launch = TGI.launch(a_request(a_version("tgi", "3.3.5"), drain_seconds=120))
    assert option(launch, "--graceful-termination-timeout") == "120"
    assert (launch.pre_stop_seconds, launch.stop_seconds) == (5, 135)


def test_waits_before_sigterm_where_the_version_has_a_limit_of_its_own() -> None:
    launch = TGI.launch(a_request(a_version("tgi", "3.0.1"), drain_seconds=600))
    assert option(launch, "--graceful-termination-timeout") is None
    assert (launch.pre_stop[-2], launch.pre_stop_seconds, launch.stop_seconds) == ("605", 605, 15)


def test_the_hubs_cache_lies_on_the_writable_volume() -> None:
    launch = TGI.launch(a_request(a_version("tgi")))
    assert launch.environment["HUGGINGFACE_HUB_CACHE"] == "/cache/huggingface/hub"
    assert launch.writable_paths == ("/cache",)


@pytest.mark.parametrize("written", ["--max_batch_size=9", "--port", "-p", "--num-shard=2", "--api-key=x"])
def test_what_the_operator_owns_is_refused(written: str) -> None:
    with pytest.raises(InvalidSpec) as refused:
        check_arguments(TGI, a_version("tgi", "3.0.1"), [written], [])
    assert refused.value.reason == Reason.OWNED_ARGUMENT


@pytest.mark.parametrize("name", ["MAX_BATCH_SIZE", "max_total_tokens", "HOSTNAME", "API_KEY", "HF_TOKEN"])
def test_the_twin_of_an_owned_option_is_refused(name: str) -> None:
    with pytest.raises(InvalidSpec, match=name):
        check_arguments(TGI, a_version("tgi", "3.0.1"), [], [name])


def test_what_users_may_change_is_not_owned() -> None:
    check_arguments(
        TGI, a_version("tgi", "3.0.1"), ["--max-batch-prefill-tokens=2048"], ["MAX_BATCH_PREFILL_TOKENS", "USAGE_STATS"]
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_knows_every_option_it_renders_or_leaves_it_out(version: str) -> None:
    row = a_version("tgi", version)
    flags = {word.partition("=")[0] for word in TGI.launch(a_request(row, devices=2, dtype="float16")).args}
    assert flags - row.flags == set()


def test_the_default_is_the_last_version_whose_image_runs_without_root() -> None:
    users = {version: a_version("tgi", version).user for version in VERSIONS}
    assert users == {"3.0.1": 2000, "3.1.0": 2000, "3.3.5": 0, "3.3.7": 0}
    assert load_catalogue().engines["tgi"].default == "3.1.0"
