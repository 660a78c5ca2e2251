import json
import logging
from collections.abc import Iterator

import pytest

from llmservice.controllers.logs import LogFormat, Logged, set_up_logs
from llmservice.reconcilers.workers import ServiceKey

KEY = ("ml", "chat")
PLANTED = "hf_PLANTEDsecretPLANTED"


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """The logging of pytest is put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:], root.level = handlers, level


async def reconcile(_: ServiceKey) -> float | None:
    logging.getLogger("llmservice.test").info("looked")
    return None


async def test_each_line_of_a_pass_says_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "json")
    await Logged(reconcile, lambda _: 7)(KEY)
    line = json.loads(capsys.readouterr().err)
    assert {**line, "ts": "", "reconcileID": ""} == {
        "ts": "",
        "level": "info",
        "logger": "llmservice.test",
        "msg": "looked",
        "controller": "llmservice",
        "namespace": "ml",
        "name": "chat",
        "generation": 7,
        "reconcileID": "",
    }


def test_a_line_that_no_encoding_has_a_word_for_is_written_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "json")
    logging.getLogger("llmservice.test").info("leads to %s", "http://\udcff\x1b[2J")
    assert json.loads(capsys.readouterr().err)["msg"] == "leads to http://\\udcff"


async def test_two_passes_have_different_ids(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "json")
    logged = Logged(reconcile, lambda _: 7)
    await logged(KEY)
    await logged(KEY)
    ids = {json.loads(line)["reconcileID"] for line in capsys.readouterr().err.splitlines()}
    assert len(ids) == 2


async def test_text_names_the_resource_at_the_end_of_the_line(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "text")
    await Logged(reconcile, lambda _: 7)(KEY)
    assert "INFO    llmservice.test: looked [ml/chat@7 " in capsys.readouterr().err


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_planted_secret_is_in_no_line_and_no_traceback(
    capsys: pytest.CaptureFixture[str], log_format: LogFormat
) -> None:
    set_up_logs("debug", log_format)
    log = logging.getLogger("llmservice.test")
    log.info("the API server said: HF_TOKEN=%s", PLANTED)
    try:
        int(f"Authorization: Bearer {PLANTED}")
    except ValueError:
        log.exception("refused with %s", {"api_key": PLANTED})
    written = capsys.readouterr().err
    assert "secretPLANTED" not in written
    assert written.count("[hidden]") >= 4
    assert "Traceback" in written


async def test_kopf_keeps_quiet_about_each_event(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "text")
    logging.getLogger("kopf.objects").info("Handler 'translate' succeeded.")
    logging.getLogger("kopf._core.reactor.running").warning("OS signals are ignored: running not in the main thread.")
    assert capsys.readouterr().err == ""


async def test_what_ended_kopf_is_told_once_and_by_us(capsys: pytest.CaptureFixture[str]) -> None:
    set_up_logs("info", "text")
    logging.getLogger("kopf._core.reactor.orchestration").error("Watcher for llmservices has failed: 504")
    logging.getLogger("llmservice.controllers.kopf_thread.watch").warning("kopf ended: 504")
    assert capsys.readouterr().err.count("504") == 1
