"""LLMServices with hostile texts wherever a tenant may write one, and pods that answer, crash or wait accordingly.

Resource N of a seed is the same each time, and so are its pods' answers, logs and last words.
"""

from collections.abc import Callable
from random import Random
from typing import Any

from tests.builders import with_changes
from tests.cluster.kube import Body
from tests.hostile.plays import ANNOTATION
from tests.hostile.services import played
from tests.hostile.words import adversarial, without_nul

_ARGUMENTS = "spec__engineOptions__args"
_OWN_IMAGE = {"spec__engineOptions__image": "registry.example/own:1"}


def generated(seed: str, number: int) -> Body:
    """One resource; most are taken by the API server."""
    random = Random(f"{seed}/{number}")
    kind = random.choices(("ready", "crash", "wait", ""), (5, 3, 1, 1))[0]
    body = played(f"generated-{number}", f"{kind or 'ready'} generated-{number}")
    changes: dict[str, Any] = {} if kind else {"spec__suspend": True}
    for change in random.sample(_CHANGES, random.choice((1, 1, 2, 4))):
        changes |= change(random)
    made = with_changes(body, changes)
    made["spec"]["pod"]["annotations"][ANNOTATION] = body["spec"]["pod"]["annotations"][ANNOTATION]
    return made


def _text(random: Random, most: int) -> str:
    """From one letter to `most`, small and large ones alike."""
    size = int(2 ** random.uniform(0, most.bit_length() - 1))
    return without_nul(adversarial(random, size))[:most]


def _arguments(random: Random) -> Body:
    count = random.choice((1, 2, 16, 128))
    return _OWN_IMAGE | {_ARGUMENTS: [_text(random, 8192 if count < 3 else 512) for _ in range(count)]}


def _flags(random: Random) -> Body:
    names = (
        "--served-model-name",
        "--api-key",
        "--hf-token",
        "--max-num-seqs",
        "--seed",
        "-tp",
        "--compilation-config",
    )
    return {_ARGUMENTS: [f"{random.choice(names)}={_text(random, 1024)}", random.choice(names), _text(random, 1024)]}


def _variables(random: Random) -> Body:
    count = random.choice((1, 8, 128))
    values = [{"name": f"V{number}", "value": _text(random, 4096 if count < 9 else 256)} for number in range(count)]
    return {"spec__engineOptions__env": values}


def _pod_annotations(random: Random) -> Body:
    return {"spec__pod__annotations": {f"hostile.example/{number}": _text(random, 4096) for number in range(3)}}


def _annotations(random: Random) -> Body:
    return {"metadata__annotations": {f"hostile.example/{number}": _text(random, 65_536) for number in range(3)}}


def _version(random: Random) -> Body:
    image = "registry.example/" + "a" * random.randint(1, 400)
    return {"spec__engineOptions__version": random.choice(("b11312", "9" * 64, "0.32.0", "x"))} | {
        "spec__engineOptions__image": image
    }


def _model(random: Random) -> Body:
    part = random.choice(("a", "-", ".", "_", "0")) * random.randint(1, 90)
    uri = random.choice((f"hf://a{part}/b{part}", f"pvc://models/{part}/{part}", f"hf://a/b{part}"))
    return {"spec__model__uri": uri, "spec__model__names": [f"m{part}"[:100]]}


def _numbers(random: Random) -> Body:
    return {
        "spec__maxModelLen": random.choice((1, 2**24, 4096)),
        "spec__maxNumSeqs": random.choice((1, 8192, 7)),
        "spec__startup__timeoutSeconds": random.choice((10, 86_400)),
        "spec__drain__timeoutSeconds": random.choice((0, 3600)),
    }


def _policy(random: Random) -> Body:
    scaling = {"minReplicas": 1, "maxReplicas": random.choice((1, 3)), "source": random.choice(("Pods", "Prometheus"))}
    targets = {"policy": "Threshold", "targets": {"queuedRequests": random.choice((1, 100_000))}}
    return {"spec__autoscaling": scaling | random.choice(({}, targets))}


_CHANGES: tuple[Callable[[Random], Body], ...] = (
    *(_arguments, _flags, _variables, _pod_annotations, _annotations),
    *(_version, _model, _numbers, _policy),
)
