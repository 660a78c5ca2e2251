"""What is particular to TabbyAPI: its configuration is a file, which its own model of the configuration must take."""

from typing import Any

import pytest
import yaml

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import ModelSource
from llmservice.engines.parallelism import Parallelism
from llmservice.engines.registry import ENGINES
from llmservice.engines.start_report import StartReport
from llmservice.engines.tabbyapi.config_file import CONFIG_PATH, config_text
from llmservice.engines.tabbyapi.engine import ENGINE
from llmservice.errors import InvalidSpec
from tests.unit.engines.hub_request import a_request, a_version
from tests.unit.engines.tabbyapi.lines import GOOD_START
from tests.unit.planning.planned import planned, refused
from tools.engine_flags.tabbyapi import config_options

MODEL = ModelSource(scheme="pvc", claim="models", path="/models/llama-8b-exl3-4.0bpw")

TAKES = {
    "network": {"host": str, "port": int, "disable_auth": bool, "disable_fetch_requests": bool, "api_servers": list},
    "model": {
        "model_dir": str,
        "model_name": str,
        "inline_model_loading": bool,
        "use_dummy_models": bool,
        "dummy_model_names": list,
        "backend": str,
        "max_seq_len": int,
        "cache_size": int,
        "cache_mode": str,
        "max_batch_size": int,
        "tensor_parallel": bool,
    },
}
"""Section → key → type: config_sample.yml and common/config_models.py at commit 0158fb48."""


def config(**changes: Any) -> dict[str, Any]:
    launch = ENGINE.launch(a_request(a_version("tabbyapi"), **{"model": MODEL, **changes}))
    found: dict[str, Any] = yaml.safe_load(launch.files[CONFIG_PATH])
    return found


def test_every_key_is_one_of_its_configuration_with_a_value_of_its_type() -> None:
    written = config()
    assert {section: set(keys) for section, keys in written.items()} == {
        section: set(keys) for section, keys in TAKES.items()
    }
    for section, keys in written.items():
        assert {key: type(value) for key, value in keys.items()} == TAKES[section]


def test_every_key_is_an_option_of_the_version_too() -> None:
    known = a_version("tabbyapi").flags
    assert {f"--{key.replace('_', '-')}" for keys in TAKES.values() for key in keys} - known == set()


def test_the_cache_has_room_for_all_requests_in_whole_pages() -> None:
    model = config(max_model_len=5000, max_num_seqs=3)["model"]
    assert (model["max_seq_len"], model["cache_size"], model["max_batch_size"]) == (5000, 3 * 5120, 3)


@pytest.mark.parametrize(
    ("dtype", "mode"),
    [("", "FP16"), ("fp16", "FP16"), ("q8", "8,8"), ("q6", "6,6"), ("q4", "4,4"), ("q8_4", "8,4"), ("q2_3", "2,3")],
)
def test_the_cache_is_kept_in_these_bits(dtype: str, mode: str) -> None:
    assert config(kv_cache_dtype=dtype)["model"]["cache_mode"] == mode


@pytest.mark.parametrize("dtype", ["fp8", "q9", "q1", "q8_0", "q4_k"])
def test_other_bits_are_refused_with_those_it_has(dtype: str) -> None:
    with pytest.raises(InvalidSpec, match=r"spec\.kvCacheDtype: ") as caught:
        config(kv_cache_dtype=dtype)
    assert "q8_4" in caught.value.message


def test_only_the_one_model_is_told_and_by_its_names() -> None:
    model = config(names=("chat", "gpt"))["model"]
    assert (model["model_dir"], model["model_name"]) == ("/models/llama-8b-exl3-4.0bpw", ".")
    assert (model["dummy_model_names"], model["use_dummy_models"]) == (["chat", "gpt"], True)
    assert model["inline_model_loading"] is False


def test_listens_where_the_proxy_looks() -> None:
    network = config(host="127.0.0.1", port=8001)["network"]
    assert (network["host"], network["port"], network["disable_auth"]) == ("127.0.0.1", 8001, True)


@pytest.mark.parametrize(("shared", "tensor"), [(Parallelism(pipeline=2), False), (Parallelism(tensor=2), True)])
def test_devices_have_whole_layers_or_share_each(shared: Parallelism, tensor: bool) -> None:
    assert config(devices=2, parallelism=shared)["model"]["tensor_parallel"] is tensor


def test_bits_are_known_by_the_name_of_the_folder() -> None:
    (default,) = ENGINE.launch(a_request(a_version("tabbyapi"), model=MODEL)).defaults
    assert (default.value, default.reason.split()[0]) == ("exl3", "4.0")
    plain = ModelSource(scheme="pvc", claim="models", path="/models/llama")
    assert ENGINE.launch(a_request(a_version("tabbyapi"), model=plain)).defaults == ()


def test_the_format_before_is_refused_with_the_way_out() -> None:
    old = ModelSource(scheme="pvc", claim="models", path="/models/llama-8b-EXL2-4.0bpw")
    with pytest.raises(InvalidSpec, match=r"spec\.model\.uri: ") as caught:
        config(model=old)
    assert "exl2-checkpoint" in caught.value.message
    assert config(model=old, own_image=True)["model"]["model_dir"] == old.path


@pytest.mark.parametrize("text", ['a"b', "a: b", "a\nb: 1", "yes", "1.0", "#"])
def test_a_text_stays_one_text(text: str) -> None:
    assert yaml.safe_load(config_text({"a": {"b": text, "c": [text]}})) == {"a": {"b": text, "c": [text]}}


def test_what_administrates_is_closed() -> None:
    plan = planned(spec__engine="tabbyapi", spec__model__uri="pvc://models/chat", spec__gpu={"type": "L4"})
    assert plan.proxy is not None
    assert {"/v1/chat/completions", "/v1/completions", "/v1/models"} <= set(plan.proxy.client_paths)
    closed = {"/v1/model/load", "/v1/model/unload", "/v1/download", "/v1/*"}
    assert closed & set(plan.proxy.client_paths) == set()


def test_says_where_it_is_chosen_what_it_is_not_meant_for() -> None:
    plan = planned(spec__engine="tabbyapi", spec__model__uri="pvc://models/chat", spec__gpu={"type": "L4"})
    assert any("production" in note for note in plan.notes)
    assert any("AGPL" in note for note in plan.notes)


@pytest.mark.parametrize("gpu", ["T4", "MI300X"])
def test_devices_without_kernels_are_refused(gpu: str) -> None:
    problem = refused(spec__engine="tabbyapi", spec__model__uri="pvc://models/chat", spec__gpu={"type": gpu})
    assert problem.field.startswith("spec.gpu")
    assert "tabbyapi" in problem.message


def test_a_model_of_the_hub_is_downloaded_first() -> None:
    problem = refused(spec__engine="tabbyapi", spec__model__uri="hf://owner/name", spec__gpu={"type": "L4"})
    assert problem.reason == Reason.UNSUPPORTED_MODEL_SOURCE
    assert "spec.model.cache" in problem.message


def test_reads_of_its_start_what_the_cache_holds() -> None:
    assert ENGINES["tabbyapi"].start_report(GOOD_START) == StartReport(
        backend="cuda", kv_tokens=65_536, full_length_requests=4.0, request_tokens=16_384
    )
    assert ENGINES["tabbyapi"].start_report("").in_use is None


_SOURCE = """
class A(BaseConfigModel):
    one_word: Optional[int] = Field(1)
    many: List[str] = Field([])
    _metadata: Metadata = PrivateAttr(Metadata())

class TabbyConfigModel(BaseModel):
    part: Optional[A] = Field(default_factory=A.model_construct)
"""


def test_options_are_read_from_the_model_of_its_configuration() -> None:
    found = [(option.spellings, option.variable, option.takes.value) for option in config_options(_SOURCE)]
    assert found == [(("--many",), "TABBY_PART_MANY", "many"), (("--one-word",), "TABBY_PART_ONE_WORD", "one")]
