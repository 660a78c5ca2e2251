"""A model on a hub: what is asked, what its refusals become, and where the token goes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llmservice.inspection import hub_requests
from llmservice.inspection.hub_access import hub_access
from llmservice.inspection.inspecting import Inspected, Question, inspect_repository
from llmservice.models.gguf_values import MOST_HEADER_BYTES
from llmservice.models.inspection_failure import FailureReason, InspectionFailure
from llmservice.models.model_facts import ModelFacts, Task
from sandbox.tiny_model import tiny_model
from tests.local_hub.certificate import self_signed
from tests.local_hub.local_hub import LocalHub, local_hub
from tests.local_hub.repository import COMMIT, Fault, Repository
from tests.ports import free_port
from tests.unit.models import configs

SECRET = "hf_a-token-that-must-not-leave"  # noqa: S105  (of nobody)
LLAMA = configs.BY_MODEL["meta-llama/Llama-3.1-8B-Instruct"]
SHARDS = {f"model-0000{number}-of-00004.safetensors": 4_000_000_000 for number in range(1, 5)}
VARIABLES = (
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
)


def llama(**more: Any) -> Repository:
    files = {"config.json": json.dumps(LLAMA).encode(), "README.md": b"a model", **dict.fromkeys(SHARDS, b"")}
    told = {"safetensors": {"parameters": {"BF16": 8_030_261_248}, "total": 8_030_261_248}}
    return Repository(files=files, sizes=dict(SHARDS), more={"pipeline_tag": "text-generation", **told}, **more)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalHub]:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    gguf = {"tiny-Q4_0.gguf": tiny_model(), "mmproj-F16.gguf": b"GGUF", "README.md": b""}
    repositories = {
        "meta/llama": llama(),
        "meta/gated": llama(gated="manual", token=SECRET),
        "meta/private": llama(private=True, token=SECRET),
        "tiny/gguf": Repository(files=gguf),
        "tiny/many": Repository(files={f"a-Q{number}_0.gguf": b"" for number in range(12)}),
        "tiny/empty": Repository(files={"README.md": b""}),
    }
    with local_hub(repositories) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


async def inspect(repository: str, seconds: float = 20.0, *, revision: str = "", **asked: Any) -> Inspected:
    ask = Question(seconds=seconds, **asked)
    return await inspect_repository(hub_access, repository, ask, revision=revision)


async def facts_of(repository: str, **asked: Any) -> ModelFacts:
    result = (await inspect(repository, **asked)).result
    assert isinstance(result, ModelFacts), result
    return result


async def failure_of(repository: str, seconds: float = 20.0, **asked: Any) -> InspectionFailure:
    result = (await inspect(repository, seconds, **asked)).result
    assert isinstance(result, InspectionFailure), result
    return result


async def test_two_requests_tell_all_of_a_usual_model(hub: LocalHub) -> None:
    inspected = await inspect("meta/llama")
    facts = inspected.result
    assert isinstance(facts, ModelFacts)
    assert (facts.layers, facts.longest_context, facts.task) == (32, 131072, Task.GENERATE)
    assert (facts.file_bytes, facts.parameters, facts.gated) == (16_000_000_000, 8_030_261_248, False)
    assert inspected.revision == COMMIT
    assert [each.path for each in hub.seen] == [
        "/api/models/meta/llama/revision/main?blobs=true",
        f"/meta/llama/resolve/{COMMIT}/config.json",
    ]


async def test_a_revision_is_asked_for_as_it_is_written(hub: LocalHub) -> None:
    hub.repositories["meta/llama"].revisions = ("refs/pr/1", COMMIT)
    assert (await facts_of("meta/llama", revision="refs/pr/1")).layers == 32
    assert hub.seen[0].path == "/api/models/meta/llama/revision/refs%2Fpr%2F1?blobs=true"


async def test_a_gguf_header_is_read_in_a_part_of_the_file(hub: LocalHub) -> None:
    facts = await facts_of("tiny/gguf")
    assert (facts.architecture, facts.layers, facts.parameters) == ("llama", 2, 113_856)
    assert [each.range for each in hub.asked("other")] == ["bytes=0-524287"]


async def test_a_longer_gguf_header_is_read_in_growing_parts(hub: LocalHub) -> None:
    data = tiny_model()
    tokens = b"\x08\0\0\0\0\0\0\0" + b"x" * 8
    filler = 200_000
    key = (7).to_bytes(8, "little") + b"filling" + (9).to_bytes(4, "little") + (8).to_bytes(4, "little")
    key += filler.to_bytes(8, "little") + tokens * filler
    keys = int.from_bytes(data[16:24], "little")
    long = data[:16] + (keys + 1).to_bytes(8, "little") + key + data[24:]
    hub.repositories["tiny/gguf"].files["tiny-Q4_0.gguf"] = long
    assert (await facts_of("tiny/gguf")).layers == 2
    assert [each.range for each in hub.asked("other")] == [
        *("bytes=0-524287", "bytes=524288-2097151", "bytes=2097152-8388607"),
    ]


async def test_a_server_without_ranges_is_read_no_further_than_needed(hub: LocalHub) -> None:
    hub.knows_ranges = False
    hub.repositories["tiny/gguf"].files["tiny-Q4_0.gguf"] += b"\0" * 2**22
    assert (await facts_of("tiny/gguf")).layers == 2


async def test_the_parts_of_a_split_model_are_one(hub: LocalHub) -> None:
    parts = {f"q/a-0000{number}-of-00002.gguf": tiny_model() for number in (1, 2)}
    hub.repositories["tiny/gguf"].files = {**parts, "b.gguf": b""}
    facts = await facts_of("tiny/gguf", file="q/a-00001-of-00002.gguf")
    assert facts.file_bytes == 2 * len(tiny_model())
    assert facts.parameters == 0


async def test_an_embedding_model_is_known_by_what_stands_beside_it(hub: LocalHub) -> None:
    config = {**configs.BY_MODEL["Qwen/Qwen3-8B"]}
    files = {"config.json": config, "modules.json": {}, "sentence_bert_config.json": {"max_seq_length": 8192}}
    hub.repositories["qwen/embed"] = Repository(files={name: json.dumps(each).encode() for name, each in files.items()})
    facts = await facts_of("qwen/embed")
    assert (facts.task, facts.longest_context) == (Task.EMBED, 8192)


async def test_nvidias_own_file_names_the_quantization(hub: LocalHub) -> None:
    said = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4", "group_size": 16}}
    hub.repositories["meta/llama"].files["hf_quant_config.json"] = json.dumps(said).encode()
    facts = await facts_of("meta/llama")
    assert (facts.quantization, facts.quantization_bits, facts.quantization_group) == ("modelopt_fp4", 4, 16)


async def test_the_token_goes_to_the_hub_and_to_nobody_else(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", f" {SECRET}\n")
    assert (await facts_of("tiny/gguf")).layers == 2
    assert {each.authorization for each in hub.asked("hub")} == {f"Bearer {SECRET}"}
    assert [each.authorization for each in hub.asked("other")] == [""]


async def test_the_token_may_lie_in_a_file(hub: LocalHub, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    assert (await facts_of("meta/gated")).gated is True
    assert {each.authorization for each in hub.seen} == {f"Bearer {SECRET}"}


async def test_a_repository_that_was_renamed_is_followed_with_the_token(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", SECRET)
    new = "/api/models/meta/private/revision/main?blobs=true"
    hub.faults = [
        Fault("/api/models/old/name/", 307, {"Location": new}),
        Fault("/old/name/resolve", 307, {"Location": f"/meta/private/resolve/{COMMIT}/config.json"}),
    ]
    assert (await facts_of("old/name")).layers == 32
    assert {each.authorization for each in hub.seen} == {f"Bearer {SECRET}"}


@pytest.mark.parametrize(
    ("repository", "token", "more", "reason"),
    [
        ("meta/gated", "", {}, FailureReason.GATED),
        ("meta/gated", "hf_of-somebody-else", {}, FailureReason.GATED),
        ("meta/private", "", {}, FailureReason.REPOSITORY_UNKNOWN),
        ("meta/private", "hf_of-somebody-else", {}, FailureReason.REPOSITORY_UNKNOWN),
        ("no/such", "", {}, FailureReason.REPOSITORY_UNKNOWN),
        ("meta/llama", "wrong", {}, FailureReason.TOKEN_REFUSED),
        ("meta/llama", "with a space", {}, FailureReason.TOKEN_REFUSED),
        ("meta/llama", "", {"revision": "v9"}, FailureReason.REVISION_UNKNOWN),
        ("tiny/gguf", "", {"file": "other.gguf"}, FailureReason.FILE_MISSING),
        ("tiny/many", "", {}, FailureReason.FILE_MISSING),
        ("tiny/empty", "", {}, FailureReason.NOT_A_MODEL),
    ],
)
async def test_each_refusal_has_its_name(
    hub: LocalHub,
    monkeypatch: pytest.MonkeyPatch,
    repository: str,
    token: str,
    more: dict[str, str],
    reason: FailureReason,
) -> None:
    assert hub.url
    monkeypatch.setenv("HF_TOKEN", token)
    failure = await failure_of(repository, revision=more.get("revision", ""), file=more.get("file", ""))
    assert failure.reason is reason
    assert token == "" or token not in str(failure)
    assert len(str(failure)) < 600


async def test_files_to_choose_from_are_named(hub: LocalHub) -> None:
    assert hub.url
    failure = await failure_of("tiny/many")
    assert "a-Q0_0.gguf" in failure.message
    assert "and 4 more" in failure.message


@pytest.mark.parametrize(
    ("quantization", "file"), [("auto", "b-Q4_K_M.gguf"), ("q8_0", "b-Q8_0.gguf"), ("UD-IQ4_XS", "UD/b-UD-IQ4_XS.gguf")]
)
async def test_of_several_gguf_files_the_one_of_the_quantization_is_read(
    hub: LocalHub, quantization: str, file: str
) -> None:
    names = ("a-F16.gguf", "b-Q4_K_M.gguf", "b-Q8_0.gguf", "UD/b-UD-IQ4_XS.gguf")
    hub.repositories["tiny/sorts"] = Repository(files=dict.fromkeys(names, b"") | {file: tiny_model()})
    assert (await facts_of("tiny/sorts", quantization=quantization)).parameters == 113_856


@pytest.mark.parametrize(
    ("names", "file"),
    [
        (("a-F16.gguf", "b-Q8_0.gguf", "c-MXFP4.gguf"), "b-Q8_0.gguf"),
        (("a-F16.gguf", "c-MXFP4.gguf", "mmproj-F16.gguf"), "a-F16.gguf"),
    ],
)
async def test_without_the_usual_file_the_engines_next_choice_is_read(
    hub: LocalHub, names: tuple[str, ...], file: str
) -> None:
    hub.repositories["tiny/sorts"] = Repository(files=dict.fromkeys(names, b"") | {file: tiny_model()})
    assert (await facts_of("tiny/sorts", quantization="auto")).parameters == 113_856


async def test_a_quantization_that_no_file_has_chooses_none(hub: LocalHub) -> None:
    assert hub.url
    assert (await failure_of("tiny/many", quantization="Q4_K_M")).reason is FailureReason.FILE_MISSING
    assert (await facts_of("tiny/gguf", quantization="Q4_K_M")).parameters == 113_856
    assert (await facts_of("meta/llama", quantization="awq")).layers == 32


async def test_who_insists_asks_again_while_there_is_no_route(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llmservice.inspection.inspecting._AGAIN_SECONDS", 0.05)
    hub.faults = [Fault("/api/", 404, body=b"no hub", times=1)]
    assert (await failure_of("meta/llama", insist=True)).reason is not FailureReason.NO_ROUTE
    hub.faults, hub.seen = [Fault("/api/", 418, times=2)], []
    assert (await facts_of("meta/llama", insist=True)).layers == 32
    assert len(hub.seen) == 4
    hub.faults = [Fault("/api/", 418)]
    failure = await failure_of("meta/llama", seconds=0.5, insist=True)
    assert (failure.reason, "HTTP 418" in failure.message) == (FailureReason.NO_ROUTE, True)


async def test_a_throttled_request_is_repeated_when_the_hub_says(hub: LocalHub) -> None:
    hub.faults = [Fault("/api/", 429, {"Retry-After": "1"}, times=1)]
    assert (await facts_of("meta/llama")).layers == 32
    assert len(hub.seen) == 3


@pytest.mark.parametrize("headers", [{"Retry-After": "300"}, {"RateLimit": '"api";r=0;t=271'}])
async def test_a_pause_longer_than_the_time_left_is_a_failure_at_once(hub: LocalHub, headers: dict[str, str]) -> None:
    hub.faults = [Fault("/api/", 429, headers)]
    assert (await failure_of("meta/llama")).reason is FailureReason.THROTTLED
    assert len(hub.seen) == 1


async def test_a_server_that_fails_is_asked_three_times(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_requests, "_SHORT_SECONDS", 0.01)
    hub.faults = [Fault("/api/", 500, times=2)]
    assert (await facts_of("meta/llama")).layers == 32
    hub.seen.clear()
    hub.faults = [Fault("/api/", 500)]
    failure = await failure_of("meta/llama")
    assert (failure.reason, len(hub.seen)) == (FailureReason.NO_ROUTE, 3)
    assert "HTTP 500" in failure.message


async def test_an_answer_that_breaks_off_is_asked_for_again(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_requests, "_SHORT_SECONDS", 0.01)
    hub.faults = [Fault("config.json", body=b'{"num_hidden_layers"', cut=True, times=1)]
    assert (await facts_of("meta/llama")).layers == 32
    hub.faults = [Fault("config.json", body=b'{"num_hidden_layers"', cut=True)]
    assert (await failure_of("meta/llama")).reason is FailureReason.NO_ROUTE


@pytest.mark.parametrize("path", ["/api/", "config.json"])
async def test_an_answer_without_end_is_left_where_it_is_too_long(hub: LocalHub, path: str) -> None:
    hub.faults = [Fault(path, body=b"[", endless=True)]
    assert (await failure_of("meta/llama")).reason is FailureReason.TOO_LARGE


async def test_a_gguf_header_without_end_is_left_where_it_is_too_long(hub: LocalHub) -> None:
    keys = b"GGUF" + (3).to_bytes(4, "little") + b"\0" * 8 + (4096).to_bytes(8, "little")
    key = (1).to_bytes(8, "little") + b"a" + (8).to_bytes(4, "little") + (2**20).to_bytes(8, "little") + b"x" * 2**20
    hub.repositories["tiny/gguf"].files["tiny-Q4_0.gguf"] = keys + key * 40
    failure = await failure_of("tiny/gguf")
    assert failure.reason is FailureReason.TOO_LARGE
    assert str(MOST_HEADER_BYTES) in failure.message


async def test_a_slow_hub_ends_with_the_time_that_was_given(hub: LocalHub) -> None:
    hub.faults = [Fault("/api/", seconds=30)]
    failure = await failure_of("meta/llama", seconds=0.5)
    assert failure.reason is FailureReason.NO_ROUTE


@pytest.mark.parametrize("body", [b"", b"<html>Welcome</html>", b"[]", b'{"error": "x"}', b'{"siblings": 5}'])
async def test_a_server_that_is_no_hub_is_named_as_such(hub: LocalHub, body: bytes) -> None:
    hub.faults = [Fault("/api/", body=body)]
    failure = await failure_of("meta/llama")
    assert failure.reason is FailureReason.NO_ROUTE
    assert "does not answer as a hub" in failure.message


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"num_hidden_layers": "many"}', b"\x1b[31m"])
async def test_a_config_that_is_none_is_no_model(hub: LocalHub, body: bytes) -> None:
    hub.faults = [Fault("config.json", body=body)]
    failure = await failure_of("meta/llama")
    assert failure.reason is FailureReason.NOT_A_MODEL
    assert failure.message.isprintable()


async def test_odd_entries_in_the_list_of_files_are_passed_over(hub: LocalHub) -> None:
    odd: list[Any] = [
        None,
        5,
        {},
        {"rfilename": 5},
        {"rfilename": "a" * 9999},
        {"rfilename": "\x1b"},
        {"rfilename": "b.bin", "size": -1},
    ]
    hub.repositories["meta/llama"].more["siblings"] = [*odd, {"rfilename": "config.json", "size": "x"}]
    assert (await facts_of("meta/llama")).file_bytes == 0


@pytest.mark.parametrize(
    "location",
    ["/api/models/meta/llama/revision/main", "ftp://x/", "http://[", "//", "http://user:password@127.0.0.1:1/"],
)
async def test_redirects_to_nowhere_are_no_route(hub: LocalHub, location: str) -> None:
    hub.faults = [Fault("/api/", 302, {"Location": location})]
    failure = await failure_of("meta/llama")
    assert failure.reason is FailureReason.NO_ROUTE
    assert "password" not in str(failure)
    assert len(hub.seen) <= 5


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [
        ("https://hub.invalid", "no name server knows this host"),
        ("http://127.0.0.1:1", "127.0.0.1"),
        ("hub.example", "HF_ENDPOINT"),
        ("ftp://hub.example", "HF_ENDPOINT"),
        ("https://user:secret@hub.example", "HF_ENDPOINT"),
    ],
)
async def test_a_hub_that_cannot_be_reached_is_named(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, endpoint: str, why: str
) -> None:
    assert hub.url
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    failure = await failure_of("meta/llama")
    assert failure.reason is FailureReason.NO_ROUTE
    assert why in failure.message
    assert "secret" not in failure.message


async def test_requests_go_through_the_proxy_unless_the_host_is_excepted(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    failure = await failure_of("meta/llama")
    assert "the proxy cannot be reached" in failure.message
    monkeypatch.setenv("http_proxy", "socks5://127.0.0.1:1080")
    assert "the proxy for http is no address of HTTP" in (await failure_of("meta/llama")).message
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert (await facts_of("meta/llama")).layers == 32
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("http_proxy", hub.url.removeprefix("http://"))
    monkeypatch.setenv("HF_ENDPOINT", "http://hub.invalid")
    assert (await facts_of("meta/llama")).layers == 32


async def test_a_certificate_is_trusted_only_by_the_authoritys_file(
    hub: LocalHub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tls, authority = self_signed(tmp_path)
    with local_hub(hub.repositories, tls) as secure:
        monkeypatch.setenv("HF_ENDPOINT", secure.url)
        failure = await failure_of("meta/llama")
        assert (failure.reason, "certificate" in failure.message) == (FailureReason.NO_ROUTE, True)
        for variable in ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"):
            monkeypatch.setenv(variable, str(authority))
            assert (await facts_of("meta/llama")).layers == 32
            monkeypatch.delenv(variable)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "missing"))
        assert "REQUESTS_CA_BUNDLE" in (await failure_of("meta/llama")).message
        insecure = Fault("/api/", 302, {"Location": f"{hub.url}/api/models/meta/llama/revision/main"})
        secure.faults = [insecure]
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        monkeypatch.delenv("REQUESTS_CA_BUNDLE")
        assert "something else than https" in (await failure_of("meta/llama")).message
