"""The load that a profile is made from, and others that it predicts, of other rates, users, lengths and bursts."""

import random
from collections.abc import Mapping
from pathlib import Path

PROFILE = ("--sweep", "1,2,3,4,6", "--requests", "40", "--mixed", "--prompt-tokens", "100", "--answer-tokens", "60")

_RECORDED_SECONDS = 150
_POISSON = ("--poisson", "--rate")


def loads(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """Options of `llmservice bench` by what the load is called; a recorded one is written into the folder."""
    return {
        "1/s, 60 + 90 tokens": (*_POISSON, "1", "--seconds", "120", *_tokens(60, 90)),
        "1.6/s, 100 + 60 tokens": (*_POISSON, "1.6", "--seconds", "120", "--seed", "1", *_tokens(100, 60)),
        "2.2/s, 120 + 30 tokens": (*_POISSON, "2.2", "--seconds", "80", "--seed", "2", *_tokens(120, 30)),
        "8 users, 150 + 40 tokens": (
            *("--users", "8", "--ramp", "5", "--rounds", "15", "--think", "2"),
            *_tokens(150, 40),
        ),
        "1.2/s, 300 + 40 tokens": (*_POISSON, "1.2", "--seconds", "100", "--seed", "3", *_tokens(300, 40)),
        "recorded, bursts, all lengths": ("--trace", str(_bursts(folder / "bursts.csv"))),
    }


def _tokens(prompt: int, answer: int) -> tuple[str, ...]:
    return ("--prompt-tokens", str(prompt), "--answer-tokens", str(answer))


def _bursts(path: Path) -> Path:
    """One to four requests at a moment, lengths log-normal: about 100 and 46 tokens."""
    chance, at, lines = random.Random(4), 0.0, ["arrival_seconds,prompt_tokens,output_tokens"]  # noqa: S311
    while at < _RECORDED_SECONDS:
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            prompt = min(400, max(10, int(chance.lognormvariate(4.4, 0.7))))
            answer = min(200, max(4, int(chance.lognormvariate(3.6, 0.6))))
            lines.append(f"{at:.3f},{prompt},{answer}")
        at += chance.expovariate(0.8)
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path
