"""What the tutorials tell newcomers to type, typed on a real cluster; what they print is what the pages show."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.kube import Kube
from tests.cluster.newcomers.newcomer import Newcomer, at_a_shell
from tests.cluster.newcomers.page import paths, steps, unreadable_marks
from tests.cluster.newer_operator import NEW_FIELD
from tests.cluster.operator_process import Operator
from tests.ports import free_port

pytestmark = pytest.mark.cluster

FIRST, AFTER = "tutorials/first-model.md", "tutorials/after-the-first-answer.md"
NO_HUB = {
    "hf://bartowski/Qwen2.5-0.5B-Instruct-GGUF": "pvc://models/tiny.gguf",
    "\n  quantization: Q4_K_M": "",
    '{"model"': '{"max_tokens": 8, "model"',
}
"""Where no hub can be reached: the tiny model on the claim, whose random answers would have no end."""


@pytest.fixture
def newcomer(kube: Kube, models: object, tmp_path: Path) -> Iterator[Newcomer]:  # noqa: ARG001  (their volume)
    """Somebody at a shell."""
    person = at_a_shell(kube, tmp_path)
    yield person
    person.leave()


@pytest.fixture
def forwarded() -> dict[str, str]:
    """A port of this machine that nobody else has."""
    return {"8080": str(free_port())}


def pods(kube: Kube) -> set[str]:
    return {pod["metadata"]["uid"] for pod in kube.list("Pod")}


def words(answer: str) -> int:
    """How many tokens a chat completion has."""
    return int(json.loads(answer)["usage"]["completion_tokens"])


def test_every_mark_on_the_pages_is_understood_and_its_path_is_walked_below() -> None:
    assert [unreadable_marks(page) for page in (FIRST, AFTER)] == [0, 0]
    assert paths(FIRST) == ["answer"]
    assert paths(AFTER) == ["mistake", "upgrade", "update", "removal", "deletion"]
    assert len(steps(AFTER, "mistake")) == 6


def test_the_first_model_answers(newcomer: Newcomer, forwarded: dict[str, str]) -> None:
    *_, answer = newcomer.follow(FIRST, "answer", NO_HUB | forwarded)
    assert words(answer) > 0


def test_a_mistake_an_upgrade_and_the_removal_of_the_operator(
    newcomer: Newcomer, kube: Kube, operator: Operator, forwarded: dict[str, str]
) -> None:
    newcomer.follow(AFTER, "mistake")
    kube.wait(lambda: len(pods(kube)) == 1, lambda: kube.list("Pod"))  # the one that could not start is gone
    before, usual = pods(kube), operator.command
    operator.stop()
    try:
        operator.command = ("-m", "tests.cluster.newer_operator")
        operator.start()
        said = newcomer.follow(AFTER, "upgrade")
        assert NEW_FIELD[0] in said[-1]
        assert pods(kube) == before
        newcomer.follow(AFTER, "update")
        kube.wait(lambda: not before & pods(kube), lambda: kube.list("Pod"))
        kube.wait_ready("chat")

        operator.stop()
        (answer,) = newcomer.follow(AFTER, "removal", forwarded)
        assert words(answer) > 0
        newcomer.follow(AFTER, "deletion", {"from default": f"from {kube.namespace}"})
        assert kube.get("Service", "chat") is None
    finally:
        operator.stop()
        operator.command = usual
        operator.start()
