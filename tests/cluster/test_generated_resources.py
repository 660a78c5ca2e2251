"""Resources that nobody would write, 200 or RESOURCES of them: refused with the field, or settled with a reason.

    make cluster RESOURCES=2000 TESTS=tests/cluster/test_generated_resources.py

Meanwhile twenty services serve, and the operator must not stumble once.
"""

import os
from collections import Counter
from collections.abc import Iterator

import pytest

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.resource import LLMService
from llmservice.cluster.kinds import KINDS
from llmservice.engines.registry import ENGINES
from llmservice.errors import InvalidSpec
from tests.cluster.conftest import namespace
from tests.cluster.generated import Case, generated
from tests.cluster.kube import Body, Kube, Rejected, condition_of
from tests.cluster.operator_process import Operator
from tests.cluster.services import a_tiny_service
from tests.cluster.steady import Steady
from tests.cluster.target import Target
from tests.cluster.traps import traps

pytestmark = pytest.mark.cluster

RESOURCES = int(os.environ.get("RESOURCES", "200"))
STEADY = 20
_AT_ONCE = 50
_SETTLED_WITHIN_SECONDS = 120
_REFUSALS = {400, 422}
_ON_THE_WAY = {Reason.PROGRESSING, Reason.STARTING, Reason.LOADING}


@pytest.fixture
def steady(cluster: Kube, operator: Operator, target: Target) -> Iterator[Steady]:  # noqa: ARG001  (it must run)
    """Twenty services that answer, in a namespace of their own."""
    for kube in namespace(cluster):
        target.model_volume(kube, "models")
        steady = Steady(kube=kube, count=STEADY)
        steady.start()
        yield steady


@pytest.fixture
def guarded(kube: Kube) -> Kube:
    """A namespace in which few pods may run, and which has a Service of somebody else's."""
    kube.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "few"}, "spec": {"hard": {"pods": "10"}}}
    )
    kube.create(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "kubernetes"}, "spec": {"ports": [{"port": 443}]}}
    )
    return kube


def test_each_is_refused_with_its_field_or_settled_with_a_reason_and_nobody_suffers(
    guarded: Kube, steady: Steady, operator: Operator
) -> None:
    cases = [*traps(), *generated(RESOURCES)][:RESOURCES]
    assert len(cases) == RESOURCES
    process, log_before = operator.process, len(operator.log.read_text())
    foreign = guarded.get("Service", "kubernetes")
    answers: Counter[str] = Counter()
    for number in range(0, RESOURCES, _AT_ONCE):
        answers.update(submitted(guarded, cases[number : number + _AT_ONCE]))
        steady.look()
        print(f"{sum(answers.values())} of {RESOURCES}: {dict(answers.most_common())}", flush=True)  # noqa: T201
    assert steady.lapses == []
    assert_notices_a_lapse(steady)
    assert foreign == guarded.get("Service", "kubernetes")
    log = operator.log.read_text()[log_before:]
    assert "Traceback" not in log, log[-8000:]
    assert "defect" not in log
    assert process is operator.process
    assert process is not None
    assert process.poll() is None


def assert_notices_a_lapse(steady: Steady) -> None:
    """That nothing was seen would mean nothing if nothing could be seen."""
    steady.kube.patch("LLMService", "steady-0", {"spec": {"engineOptions": {"args": ["--ctx-size=1"]}}})
    steady.kube.wait_reason("steady-0", Reason.OWNED_ARGUMENT)
    steady.look()
    assert any(lapse.startswith("steady-0: ") for lapse in steady.lapses)


def submitted(kube: Kube, cases: list[Case]) -> Iterator[str]:
    """What became of each: refused, or its reason. They are gone afterwards."""
    accepted = []
    for case in cases:
        refusal = refusal_of(kube, case)
        assert case.origin == "trap" or bool(refusal) == types_refuse(case), (case, str(refusal))
        if refusal:
            named = case.field and case.field.lower() in str(refusal).lower()
            assert named, (case, str(refusal))
            assert refusal.status in _REFUSALS, (case, str(refusal))
            yield "refused"
        else:
            assert case.origin != "trap" or not case.field, f"nobody refused {case}"
            accepted.append(case.name)
    yield from settled(kube, accepted)
    kube.request("DELETE", KINDS["LLMService"].collection(kube.namespace))


def refusal_of(kube: Kube, case: Case) -> Rejected | None:
    """What the API server says against a resource; None when it is there now."""
    try:
        kube.create(case.body)
    except Rejected as refusal:
        return refusal
    return None


def types_refuse(case: Case) -> bool:
    """Whether `llmservice render` would refuse it too: by its types, or because no engine is called so."""
    try:
        return LLMService.parse(case.body).spec.engine not in ENGINES
    except InvalidSpec:
        return True


def settled(kube: Kube, names: list[str]) -> list[str]:
    """The reasons of all, once each has one that is not a step on the way."""
    listed = kube.wait(
        lambda: None if unsettled(kube, names) else kube.list("LLMService"),
        lambda: unsettled(kube, names),
        seconds=_SETTLED_WITHIN_SECONDS,
    )
    return [reason_of(body) for body in listed]


def unsettled(kube: Kube, names: list[str]) -> list[Body]:
    """Those without a final word about their newest generation."""
    return [body for body in kube.list("LLMService") if body["metadata"]["name"] in names and not is_settled(body)]


def is_settled(body: Body) -> bool:
    """Whether Ready says something final about this generation, with a reason from the closed list."""
    ready = condition_of(body, "Ready")
    return (
        ready.get("observedGeneration") == body["metadata"]["generation"] and Reason(ready["reason"]) not in _ON_THE_WAY
    )


def reason_of(body: Body) -> str:
    """The reason of Ready."""
    return str(condition_of(body, "Ready")["reason"])


@pytest.mark.parametrize("text", ["\x7f", "\x85", "\u2028", "\ufffe", "\U0001f600"])
def test_a_text_that_yaml_reads_otherwise_arrives_as_it_was_written(kube: Kube, text: str) -> None:
    kube.create(a_tiny_service(suspend=True, engineOptions={"env": [{"name": "WORD", "value": text}]}))
    kube.wait_ready("chat", reason=Reason.SUSPENDED)
    deployment = kube.get("Deployment", "chat")
    assert deployment is not None
    (engine,) = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "WORD", "value": text} in engine["env"]
