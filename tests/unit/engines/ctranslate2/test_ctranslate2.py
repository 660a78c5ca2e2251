import pytest

from ctranslate2_server.options import COMPUTE_TYPES, options_from
from llmservice.engines.ctranslate2.engine import ENGINE
from llmservice.engines.engine import Launch, ModelSource
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version, option


def launched(**changes: object) -> Launch:
    return ENGINE.launch(a_request(a_version("ctranslate2"), **changes))


def test_the_server_reads_what_is_rendered() -> None:
    launch = launched(
        names=("chat", "other"),
        model=ModelSource(scheme="hf", repository="owner/model", revision="v1"),
        devices=2,
        max_num_seqs=6,
        max_model_len=4096,
        quantization="online-int8",
        drain_seconds=90,
    )
    options = options_from(launch.args)

    assert (options.model, options.revision, options.names) == ("owner/model", "v1", ("chat", "other"))
    assert (options.device, options.device_count, options.compute_type) == ("cuda", 2, "int8")
    assert (options.max_num_seqs, options.max_model_len, options.shutdown_timeout) == (6, 4096, 90)
    assert (options.host, options.port) == ("0.0.0.0", 8000)  # noqa: S104


def test_every_conversion_is_one_of_the_library() -> None:
    row = a_version("ctranslate2")

    assert row.on_load
    assert set(row.on_load.values()) <= set(COMPUTE_TYPES)


def test_a_checkpoint_keeps_its_own_format() -> None:
    assert option(launched(quantization="int8"), "--compute-type") is None


def test_two_formats_are_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.dtype: "):
        launched(dtype="float16", quantization="online-int8")


def test_there_is_no_format_of_its_own_for_the_kv_cache() -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.kvCacheDtype: "):
        launched(kv_cache_dtype="fp8")


@pytest.mark.parametrize(("cores", "requests", "threads"), [(4, 2, "2"), (4, 3, "1"), (0.5, 4, "1"), (0, 2, None)])
def test_the_cores_are_divided_among_requests(cores: float, requests: int, threads: str | None) -> None:
    assert option(launched(devices=0, cores=cores, max_num_seqs=requests), "--intra-threads") == threads


def test_several_devices_are_several_copies_and_that_is_said() -> None:
    launch = launched(devices=3)

    assert option(launch, "--device-count") == "3"
    assert any(" 3 devices" in note for note in launch.notes)


def test_it_stops_by_itself_within_the_drain() -> None:
    launch = launched(drain_seconds=77)

    assert option(launch, "--shutdown-timeout") == "77"
    assert launch.stop_seconds > 77
