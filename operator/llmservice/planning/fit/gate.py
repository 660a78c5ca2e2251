"""Whether a resource's model fits its devices: the verdict, and when it is a reason to refuse."""

from collections.abc import Iterable
from dataclasses import replace

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.catalog.accelerator import Accelerator
from llmservice.engines.engine import Engine
from llmservice.errors import InvalidSpec
from llmservice.planning.facts import Facts
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.start import incalculable, setup_of, share_unknown
from llmservice.planning.fit.verdict import Outcome, Verdict


def judge(
    spec: LLMServiceSpec,
    facts: Facts,
    engine: Engine,
    max_model_len: int,
    max_num_seqs: int,
    others: Iterable[Accelerator] = (),
) -> Verdict | None:
    """The verdict on the start of a resource; None on CPUs, and where the resource wants none.

    Where the engine finds out the length of a request (`max_model_len` 0), the weights alone are judged. `others` are
    types that a remedy may name.
    """
    setup = None if spec.fit == "Ignore" else setup_of(spec, facts, engine, max_model_len or 1, max_num_seqs)
    if setup is None or facts.accelerator is None:
        return None
    verdict = check_fit(facts.model, facts.accelerator, setup, others)
    if not max_model_len:
        verdict = replace(verdict, full_length_requests=0.0)
    if verdict.outcome is Outcome.DOES_NOT_FIT:
        flag = incalculable(spec, setup.use)
        return _unknown(verdict, f"{flag} may change that") if flag else verdict
    return _unknown(verdict, _shared(setup)) if share_unknown(spec, facts, setup) else verdict


def _unknown(verdict: Verdict, why: str) -> Verdict:
    return replace(verdict, outcome=Outcome.UNKNOWN, message=f"{verdict.message}; {why}", remedies=())


def _shared(setup: Setup) -> str:
    what = "the device is shared, and what others take of its memory is not known"
    flag = setup.use.options.utilization
    return f"{what}: say in spec.engineOptions.args with {flag} what this service may take" if flag else what


def refuse_what_cannot_fit(spec: LLMServiceSpec, verdict: Verdict | None) -> None:
    """Raises InvalidSpec for what fails by the optimistic estimate, if the resource wants that."""
    if verdict is not None and verdict.outcome is Outcome.DOES_NOT_FIT and spec.fit == "Enforce":
        raise InvalidSpec(
            Reason.DOES_NOT_FIT, f"{verdict.message}; spec.fit: Warn starts it nevertheless", field="spec.gpu"
        )
