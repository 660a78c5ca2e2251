"""`llmservice gateway-config`: an entry for each name, keys by variables, fallbacks, what is left out."""

from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.cli.gateway_config import command
from tests.builders import an_llmservice
from tests.unit.cli.small_cluster import Json, SmallCluster


def served(name: str, *, plan: Json | None = None, **changes: Any) -> Json:
    """A service with the address that its operator gave it."""
    body = an_llmservice(kind="LLMService", metadata__name=name, metadata__namespace="ml", **changes)
    return {**body, "status": {"url": f"http://{name}.ml.svc/v1", "plan": {"maxModelLen": 4096, **(plan or {})}}}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments])


def models(result: Result) -> list[Json]:
    entries: list[Json] = yaml.safe_load(result.stdout)["model_list"]
    return entries


def test_each_name_is_an_entry_with_the_services_address(small: SmallCluster) -> None:
    adapters = [{"name": "legal", "uri": "hf://a/lora"}]
    small.objects = [served("chat", spec__model__names=["chat", "gpt"], spec__adapters=adapters)]
    entries = models(run())
    assert [each["model_name"] for each in entries] == ["chat", "gpt", "legal"]
    assert {each["litellm_params"]["api_base"] for each in entries} == {"http://chat.ml.svc/v1"}
    assert [each["litellm_params"]["model"] for each in entries] == ["openai/chat", "openai/gpt", "openai/legal"]
    assert {each["model_info"]["max_input_tokens"] for each in entries} == {4096}


@pytest.mark.parametrize(
    ("task", "model", "mode"),
    [
        (None, "openai/m", "chat"),
        ("Embed", "openai/m", "embedding"),
        ("Rerank", "hosted_vllm/m", "rerank"),
        ("Transcribe", "openai/m", "audio_transcription"),
    ],
)
def test_the_task_decides_how_it_is_asked(small: SmallCluster, task: str | None, model: str, mode: str) -> None:
    small.objects = [served("m", plan={"task": task} if task else {})]
    (entry,) = models(run())
    assert (entry["litellm_params"]["model"], entry["model_info"]["mode"]) == (model, mode)


def test_a_key_is_a_variable_that_is_named_and_never_a_value(small: SmallCluster) -> None:
    small.objects = [served("chat-v2", spec__auth={"keysSecretRef": {"name": "keys"}}), served("open")]
    result = run()
    assert [each["litellm_params"]["api_key"] for each in models(result)] == ["os.environ/ML_CHAT_V2_KEY", "none"]
    assert "ML_CHAT_V2_KEY" in result.stderr


def test_services_with_one_name_share_it(small: SmallCluster) -> None:
    names: dict[str, Any] = {"spec__model__names": ["chat"]}
    small.objects = [served("a", **names), served("b", **names)]
    entries = models(run())
    assert [each["model_name"] for each in entries] == ["chat", "chat"]
    assert len({each["model_info"]["id"] for each in entries}) == 2


def test_what_does_not_serve_is_left_out_and_named(small: SmallCluster) -> None:
    small.objects = [
        served("chat"),
        served("parked", spec__suspend=True),
        an_llmservice(kind="LLMService", metadata__name="new", metadata__namespace="ml"),
    ]
    result = run()
    assert [each["model_name"] for each in models(result)] == ["chat"]
    assert "ml/new, ml/parked" in result.stderr


def test_fallbacks_name_what_is_served(small: SmallCluster) -> None:
    small.objects = [served("chat"), served("small")]
    result = run("--fallback", "chat=small")
    assert yaml.safe_load(result.stdout)["router_settings"]["fallbacks"] == [{"chat": ["small"]}]


@pytest.mark.parametrize(
    ("fallback", "named"), [("chat=tiny", "tiny"), ("chat", "NAME=OTHER"), ("chat=", "NAME=OTHER")]
)
def test_a_fallback_that_nobody_serves_is_refused(small: SmallCluster, fallback: str, named: str) -> None:
    small.objects = [served("chat")]
    result = run("--fallback", fallback)
    assert (result.exit_code, named in result.stderr) == (2, True)


def test_nothing_to_answer_for_is_said(small: SmallCluster) -> None:
    small.objects = []
    result = run()
    assert (result.exit_code, result.stdout) == (1, "")
    assert "llmservice status" in result.stderr
