"""What the fit check says of a start that somebody reported."""

from dataclasses import dataclass
from typing import TypeVar

from llmservice.catalog.loader import load_catalogue
from llmservice.engines.registry import ENGINES
from llmservice.models.model_facts import ModelFacts
from llmservice.models.sizes import GIB
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome, Verdict
from tools.fit_outcomes.reading import Start, Starts

Value = TypeVar("Value")

_VLLM_UTILIZATION = 0.9
"""vLLM's default until 0.30; ours is that of the versions which the operator renders."""
_REQUESTS = {"vllm": 256, "tgi": 128, "llamacpp": 1}


@dataclass(frozen=True)
class Judged:
    """A start and the verdict on it; GiB are those of one device, None where one side does not say."""

    start: Start
    verdict: Verdict

    @property
    def falsely_refused(self) -> bool:
        """It started, and the check says that it cannot."""
        return not self.start.failed and self.verdict.outcome is Outcome.DOES_NOT_FIT

    @property
    def falsely_accepted(self) -> bool:
        """It ended for want of memory, and the check says that it fits."""
        return self.start.failed and self.verdict.outcome is Outcome.FITS

    @property
    def reported_gib(self) -> float | None:
        """KV cache that the engine had: its own figure, or its tokens times the bytes of one."""
        reported, room = self.start.reported, self.verdict.room
        if reported.kv_gib is not None:
            return reported.kv_gib
        if reported.kv_tokens is None or room is None or not room.request:
            return None
        return reported.kv_tokens * room.request / self.verdict.setup.max_model_len / GIB

    @property
    def reported_requests(self) -> float | None:
        """Requests of the asked length that had room at once: the engine's own figure, or from its tokens."""
        reported = self.start.reported
        if reported.requests is not None or reported.kv_tokens is None:
            return reported.requests
        return reported.kv_tokens / self.verdict.setup.max_model_len

    @property
    def predicted_gib(self) -> tuple[float, float] | None:
        """KV cache by the careful and by the optimistic estimate."""
        room = self.verdict.room
        return None if room is None else (room.careful / GIB, room.optimistic / GIB)


def judged(start: Start, starts: Starts) -> Judged:
    """Runs the check on a start with the facts of its model. Raises KeyError for a model without a row."""
    facts = starts.models.facts(start.model)
    if facts is None:
        raise KeyError(start.model)
    accelerator = load_catalogue().accelerator(start.gpu)
    return Judged(start, check_fit(facts, accelerator, setup_of(start, facts)))


def setup_of(start: Start, facts: ModelFacts) -> Setup:
    """The numbers of a start: told, else assumed, else the engine's usual ones."""
    use = ENGINES[start.engine].capabilities.memory
    assert use is not None, start.engine  # noqa: S101  (every engine has it)
    told, assumed = start.told, start.assumed
    usual = use.usual_step_tokens(load_catalogue().accelerator(start.gpu))
    utilization = _VLLM_UTILIZATION if start.engine == "vllm" else use.utilization
    return Setup(
        use=use,
        devices=start.count,
        max_model_len=_first(told.max_model_len, assumed.max_model_len, facts.longest_context),
        max_num_seqs=_first(told.max_num_seqs, assumed.max_num_seqs, _REQUESTS[start.engine]),
        batched_tokens=_first(told.batched_tokens, assumed.batched_tokens, usual),
        utilization=_first(told.utilization, assumed.utilization, utilization),
        quantization=_first(told.quantization, assumed.quantization, ""),
        kv_dtype=_first(told.kv_dtype, assumed.kv_dtype, ""),
        eager=_first(told.eager, assumed.eager, default=False),
    )


def _first(told: Value | None, assumed: Value | None, default: Value) -> Value:
    return told if told is not None else assumed if assumed is not None else default
