"""`llmservice bench`: what it prints and leaves behind, and about wrong usage. Generator and server are fakes."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from llmservice.bench.generator import KEY_VARIABLE
from llmservice.cli.bench import command
from llmservice.cli.bench_generator import GENERATOR_VARIABLE
from llmservice.cli.replay import command as replay
from tests.builders import an_llmservice
from tests.unit.cli.openai_server import KEY, openai_server
from tests.unit.cli.small_cluster import SmallCluster

GENERATOR = Path(__file__).with_name("fake_aiperf.py")


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv(GENERATOR_VARIABLE, str(GENERATOR))
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with openai_server() as address:
        yield address


def ran(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_prints_a_row_for_each_level(url: str) -> None:
    result = ran(url, "--sweep", "1,4", "--requests", 6)
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines() if line[:1].isdigit()]
    assert [(row[0], row[1], row[-1]) for row in rows] == [("1", "40", "0"), ("4", "40", "0")]
    assert "12 of 12 requests" in result.stdout


def test_the_same_as_json(url: str) -> None:
    told = json.loads(ran(f"{url}/v1/", "--sweep", "2", "--requests", 6, "-o", "json").stdout)
    assert (told["model"], told["planned"], told["ended"], told["partial"]) == ("tiny", 6, 6, False)
    (row,) = told["rows"]
    assert row["ttft_seconds"]["p50"] == pytest.approx(0.04)
    assert row["end_to_end_seconds"]["p99"] == pytest.approx(0.1)


def test_prompts_have_the_length_asked_for_in_the_servers_tokens(url: str) -> None:
    told = json.loads(ran(url, "--sweep", "1", "--requests", 1, "--prompt-tokens", 210, "-o", "json").stdout)
    assert told["rows"][0]["prompt_tokens"] == 100, "ten tokens of the template, two for each word"


def test_nothing_answered_is_a_failure_that_names_the_error(url: str) -> None:
    result = ran(url, "--sweep", "1", "--requests", 3, "--answer-tokens", 13)
    assert result.exit_code == 1
    assert "3 x 503 Busy later" in result.stdout


def test_a_generator_that_fails_is_quoted(url: str) -> None:
    result = ran(url, "--sweep", "1", "--model", "broken")
    assert result.exit_code == 1
    assert "the dataset could not be read" in result.stderr


def test_two_services_come_with_a_decision(url: str) -> None:
    told = json.loads(ran(url, "--against", url, "--sweep", "1", "--requests", 6, "-o", "json").stdout)
    assert told["against"]["ended"] == 6
    assert told["decision"].startswith("Decision: no difference")


def test_profile_and_trace_are_what_replay_reads(url: str, tmp_path: Path) -> None:
    profile, trace = tmp_path / "p.yaml", tmp_path / "t.csv"
    assert ran(url, "--sweep", "1,2", "--requests", 20, "--save", profile, "--save-trace", trace).exit_code == 0
    arguments = ["--trace", str(trace), "--profile", str(profile), "--policy", "Fixed", "-o", "json"]
    result = CliRunner().invoke(replay, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["requests"] == 40
    assert yaml.safe_load(profile.read_text(encoding="utf-8"))["autoscaling"]["profile"]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_is_drawn(url: str, tmp_path: Path, ending: str) -> None:
    picture = tmp_path / f"bench.{ending}"
    assert ran(url, "--sweep", "1,2", "--requests", 4, "--picture", picture).exit_code == 0
    assert picture.stat().st_size > 1000


def test_the_key_goes_with_requests_and_stays_out_of_all_files(url: str, tmp_path: Path) -> None:
    del url
    key = tmp_path / "key"
    key.write_text(f"{KEY}\n", encoding="utf-8")
    with openai_server(key=KEY) as guarded:
        refused = ran(guarded, "--sweep", "1")
        result = ran(guarded, "--sweep", "1", "--requests", 2, "--key-file", key, "--keep", tmp_path / "kept")
    assert (refused.exit_code, result.exit_code) == (1, 0)
    assert "--key-file" in refused.stderr
    kept = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert len(kept) > 3
    assert all(KEY not in path.read_text(encoding="utf-8") for path in kept)


def test_a_key_may_lie_in_a_mounted_secret(url: str, tmp_path: Path) -> None:
    del url
    (tmp_path / "..data").mkdir()
    (tmp_path / "team-a").write_text(f"# since May\n\n{KEY}\nother\n", encoding="utf-8")
    with openai_server(key=KEY) as guarded:
        result = ran(guarded, "--sweep", "1", "--requests", 2, "--key-file", tmp_path)
    assert result.exit_code == 0, result.output


def test_files_of_an_earlier_run_are_not_mixed_with_others(url: str, tmp_path: Path) -> None:
    arguments = (url, "--sweep", "1", "--requests", 2, "--keep", tmp_path / "kept")
    assert ran(*arguments).exit_code == 0
    again = ran(*arguments)
    assert (again.exit_code, "--keep" in again.stderr) == (2, True)


def test_how_much_is_held_is_said_by_the_share_asked_for(url: str) -> None:
    told = json.loads(ran(url, "--sweep", "1,4", "--requests", 6, "--share", 90, "-o", "json").stdout)
    assert (told["share"], told["held"]) == (0.9, "4")
    none = json.loads(ran(url, "--sweep", "1,4", "--requests", 6, "--ttft", 0.01, "-o", "json").stdout)
    assert none["held"] is None


def test_a_server_that_counts_no_tokens_is_refused(url: str) -> None:
    del url
    with openai_server(counts=False) as silent:
        result = ran(silent, "--sweep", "1")
    assert result.exit_code == 1
    assert "include_usage" in result.stderr


def test_ctrl_c_after_half_gives_half_and_says_so(url: str, tmp_path: Path) -> None:
    bench = [sys.executable, "-m", "llmservice", "bench", url, "--sweep", "1", "--requests", "10", "-o", "json"]
    running = subprocess.Popen(  # noqa: S603
        [*bench, "--answer-tokens", "17", "--keep", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    records, deadline = tmp_path / "target-1/run-1/output/profile_export.jsonl", time.monotonic() + 120
    while not records.exists() or len(records.read_text(encoding="utf-8").splitlines()) < 5:
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    output, _ = running.communicate(timeout=60)
    told = json.loads(output)
    assert running.returncode == 130
    assert (told["ended"], told["planned"], told["partial"], told["interrupted"]) == (5, 10, True, True)


def test_a_load_that_takes_too_long_is_ended(url: str) -> None:
    result = ran(url, "--sweep", "1", "--requests", 10, "--answer-tokens", 17, "--at-most", 2, "-o", "json")
    assert json.loads(result.stdout)["partial"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((), "--scenario"),
        (("--sweep", "1", "--rate", "2"), "sweep"),
        (("--sweep", "0"), "--sweep"),
        (("--sweep", "x"), "--sweep"),
        (("--sweep", "1", "--think", "2"), "--think"),
        (("--users", "3", "--seconds", "2"), "--seconds"),
        (("--scenario", "at-once", "--prompt-tokens", "4"), "--prompt-tokens"),
        (("--rate", "9000", "--seconds", "80000"), "--rate"),
        (("--rate", "1", "--mixed"), "--mixed"),
        (("--sweep", "1", "--picture", "x.pdf"), "--picture"),
        (("--sweep", "1", "--image", "x"), "--image"),
        (("--sweep", "1", "--pull-secret", "x"), "--pull-secret"),
        (("--sweep", "1", "--in-cluster", "--key-file", "x"), "--key-file"),
        (("--sweep", "1", "--in-cluster", "--keep", "x"), "--keep"),
        (("--sweep", "1", "--in-cluster", "--key-secret", "a/b/c"), "--key-secret"),
        (("--sweep", "1", "--in-cluster", "--cpu", "all"), "--cpu"),
        (("--sweep", "1", "--save", "/no/such/folder/p.yaml"), "/no/such/folder"),
        (("--sweep", "1", "--slots", "2"), "--slots"),
        (("--sweep", "1", "--key-file", "/no/such/key"), "/no/such/key"),
    ],
)
def test_wrong_usage_names_the_option(url: str, arguments: tuple[str, ...], named: str) -> None:
    result = ran(url, *arguments)
    assert result.exit_code == 2, result.output
    assert named in result.stderr


@pytest.mark.parametrize(
    "address", ["ftp://x", "http://", "http://user:secret@host", "http://h?key=1", "10.0.0.7:8000", "a.b/v1", "ml/chat"]
)
def test_an_address_that_is_none_is_refused(url: str, address: str) -> None:
    del url
    result = ran(address, "--sweep", "1")
    assert result.exit_code == 2
    assert "secret" not in result.stderr


def test_a_key_that_is_wrong_is_told_from_one_that_is_missing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    del url
    with openai_server(key=KEY) as guarded:
        missing = ran(guarded, "--sweep", "1").stderr
        monkeypatch.setenv(KEY_VARIABLE, "another")
        wrong = ran(guarded, "--sweep", "1").stderr
    assert all(f"{guarded}: HTTP 401" in said for said in (missing, wrong))
    assert missing != wrong


@pytest.mark.parametrize(
    ("status", "headers", "named"),
    [
        (302, {"Location": "https://login.example/\x1b[31m"}, "https://login.example/"),
        (503, {}, "try again later"),
        (500, {}, "log"),
        (404, {}, "--model"),
    ],
)
def test_what_a_server_refuses_comes_with_the_way_out(
    url: str, status: int, headers: dict[str, str], named: str
) -> None:
    del url
    with openai_server(status=status, headers=headers) as refusing:
        result = ran(refusing, "--sweep", "1")
    assert result.exit_code == 1
    assert f"{refusing}: HTTP {status}" in result.stderr
    assert named in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "https://127.0.0.1:9"])
def test_a_connection_that_fails_is_told_without_words_of_a_library(url: str, address: str) -> None:
    del url
    result = ran(address, "--sweep", "1")
    assert result.exit_code == 1
    assert f"{address}: {os.strerror(errno.ECONNREFUSED)}" in result.stderr
    assert "ssl:default" not in result.stderr


def test_ctrl_c_before_the_load_is_a_ctrl_c_too(url: str) -> None:
    del url
    with socket.create_server(("127.0.0.1", 0)) as mute:
        address = f"http://127.0.0.1:{mute.getsockname()[1]}"
        running = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "llmservice", "bench", address, "--sweep", "1"],
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        asking, _ = mute.accept()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
        asking.close()
    assert running.returncode == 130
    assert errors.count(b"\n") == 1


def test_a_service_without_a_replica_says_why_and_what_to_do(url: str, small: SmallCluster) -> None:
    del url
    service = an_llmservice(kind="LLMService")
    small.objects = [service, {"kind": "Service", "metadata": {"name": "chat", "namespace": "ml"}}]

    def told(reason: str) -> str:
        service["status"] = {"conditions": [{"type": "Ready", "reason": reason, "message": "no such \x1b[31mfile"}]}
        result = ran("chat", "--sweep", "1")
        assert result.exit_code == 1
        return result.stderr

    assert "ModelNotFound: no such file; see: llmservice status chat -n ml" in told("ModelNotFound")
    assert "llmservice wake chat -n ml" in told("Asleep")


def test_help_needs_no_generator() -> None:
    assert "--against" in ran("--help").output
