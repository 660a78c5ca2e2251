import pytest

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.engine import LOOPBACK, PROXIED_PORT, Launch, ModelSource
from llmservice.engines.transformers.engine import ENGINE
from llmservice.engines.transformers.start_script import START
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version, option

VERSIONS = sorted(load_catalogue().engines["transformers"].versions)


def launched(**changes: object) -> Launch:
    return ENGINE.launch(a_request(a_version("transformers"), **changes))


def test_the_start_script_is_python() -> None:
    compile(START, "start", "exec")


def test_the_script_is_told_name_model_and_revision_before_the_options() -> None:
    model = ModelSource(scheme="hf", repository="owner/model", revision="v1")
    launch = launched(names=("chat",), model=model)

    assert launch.args[:3] == ("chat", "owner/model", "v1")
    assert all(word.startswith("--") for word in launch.args[3:])


def test_a_model_on_a_volume_asks_no_hub() -> None:
    launch = launched(model=ModelSource(scheme="pvc", path="/models/phi", claim="models"))

    assert launch.args[1:3] == ("/models/phi", "")
    assert launch.environment["HF_HUB_OFFLINE"] == "1"


def test_it_listens_where_it_is_told() -> None:
    launch = launched(host=LOOPBACK, port=PROXIED_PORT)

    assert (option(launch, "--host"), option(launch, "--port")) == (LOOPBACK, str(PROXIED_PORT))


@pytest.mark.parametrize("names", [("a", "b"), ("../up",), ("a//b",), ("/a",), ("-a",), ("a@b",)])
def test_a_name_must_be_one_and_fit_a_folder(names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.model\.names: "):
        launched(names=names)


def test_a_name_may_look_like_a_repository() -> None:
    assert launched(names=("acme/chat-7B",)).args[0] == "acme/chat-7B"


@pytest.mark.parametrize(
    ("quantization", "own"), [("online-nf4", "bnb-4bit"), ("online-int8", "bnb-8bit"), ("auto", None)]
)
def test_conversions_on_load_have_the_librarys_names(quantization: str, own: str | None) -> None:
    assert option(launched(quantization=quantization), "--quantization") == own


def test_on_a_cpu_the_kv_cache_has_room_for_what_may_run() -> None:
    """By itself it would take nine tenths of the node's memory."""
    launch = launched(devices=0, max_model_len=1000, max_num_seqs=3, cores=2.5)

    assert option(launch, "--cb-num-blocks") == str(3 * 4)
    assert [default.field for default in launch.defaults] == ["--cb-num-blocks"]
    assert option(launch, "--device") == "cpu"
    assert launch.environment["OMP_NUM_THREADS"] == "3"


def test_on_devices_it_takes_what_is_free() -> None:
    launch = launched(devices=2)

    assert option(launch, "--cb-num-blocks") is None
    assert option(launch, "--device") is None
    assert len(launch.notes) == 2


@pytest.mark.parametrize(("field", "value"), [("dtype", "half"), ("kv_cache_dtype", "fp8")])
def test_what_it_cannot_do_is_refused(field: str, value: str) -> None:
    with pytest.raises(InvalidSpec):
        launched(**{field: value})


def test_requests_are_always_computed_together() -> None:
    assert "--continuous-batching" in launched().args


@pytest.mark.parametrize("version", VERSIONS)
def test_every_version_knows_what_is_rendered(version: str) -> None:
    row = a_version("transformers", version)
    launch = ENGINE.launch(
        a_request(row, devices=0, trust_remote_code=True, dtype="float16", quantization="online-nf4")
    )

    assert [word for word in launch.args if word.startswith("--") and not row.knows(word.partition("=")[0])] == []
