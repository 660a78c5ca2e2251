"""What holds of every model, device and start: more room never hurts, a longer context never helps."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.loader import shipped_models
from llmservice.engines.registry import ENGINES
from llmservice.models.model_facts import Experts, ModelFacts
from llmservice.planning.fit.checking import check_fit
from llmservice.planning.fit.overhead import overhead
from llmservice.planning.fit.remedies import Remedy
from llmservice.planning.fit.room import largest_context, room
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.verdict import Outcome

BETTER = {Outcome.DOES_NOT_FIT: 0, Outcome.TIGHT: 1, Outcome.FITS: 2}
KNOWN = [facts for name in shipped_models().names if (facts := shipped_models().facts(name)) is not None]


@st.composite
def some_facts(draw: st.DrawFn) -> ModelFacts:
    layers = draw(st.integers(1, 120))
    kv_heads = draw(st.sampled_from([1, 2, 4, 8]))
    experts = st.builds(Experts, count=st.integers(2, 256), active=st.integers(1, 2), intermediate_size=st.just(1024))
    sliding = draw(st.integers(0, layers))
    return ModelFacts(
        layers=layers,
        hidden_size=draw(st.sampled_from([1024, 4096, 8192])),
        intermediate_size=draw(st.sampled_from([4096, 14_336])),
        heads=kv_heads * draw(st.sampled_from([1, 4, 8])),
        kv_heads=kv_heads,
        head_size=draw(st.sampled_from([64, 128, 256])),
        vocabulary=draw(st.sampled_from([32_000, 128_256])),
        experts=draw(st.none() | experts),
        sliding_layers=sliding,
        sliding_window=draw(st.integers(1, 8192)) if sliding else 0,
        longest_context=draw(st.sampled_from([0, 4096, 131_072])),
    )


FACTS = some_facts() | st.sampled_from(KNOWN)
SETUPS = st.builds(
    Setup,
    use=st.sampled_from([engine.capabilities.memory for engine in ENGINES.values() if engine.capabilities.memory]),
    max_model_len=st.integers(1, 200_000),
    max_num_seqs=st.integers(1, 1024),
    batched_tokens=st.sampled_from([2048, 8192]),
    devices=st.sampled_from([1, 2, 4, 8]),
    utilization=st.floats(0.3, 1.0),
    quantization=st.sampled_from(["", "fp8", "awq"]),
    kv_dtype=st.sampled_from(["", "fp8"]),
)
MEMORY = st.floats(1.0, 300.0)


def gpu(memory_gib: float, capability: str = "8.9") -> Accelerator:
    return Accelerator(
        name="X",
        vendor="nvidia",
        resource_name="nvidia.com/gpu",
        image_variant="cuda",
        capability=capability,
        memory_gib=memory_gib,
    )


def outcome(facts: ModelFacts, memory: float, setup: Setup) -> Outcome:
    return check_fit(facts, gpu(memory), setup).outcome


def is_no_better(one: Outcome, another: Outcome) -> bool:
    """Whether the first is not above the second; what cannot be told is above only what surely does not fit."""
    if Outcome.UNKNOWN in (one, another):
        return one is another or one is Outcome.DOES_NOT_FIT
    return BETTER[one] <= BETTER[another]


@given(FACTS, SETUPS, MEMORY, MEMORY)
def test_more_memory_never_turns_a_fit_into_a_misfit(
    facts: ModelFacts, setup: Setup, one: float, another: float
) -> None:
    less, more = sorted((one, another))
    assert is_no_better(outcome(facts, less, setup), outcome(facts, more, setup))


@given(FACTS, SETUPS, MEMORY, st.integers(1, 200_000))
def test_a_longer_context_never_fits_where_a_shorter_one_does_not(
    facts: ModelFacts, setup: Setup, memory: float, tokens: int
) -> None:
    short, long = sorted((setup.max_model_len, tokens))
    shorter, longer = (outcome(facts, memory, replace(setup, max_model_len=length)) for length in (short, long))
    assert is_no_better(longer, shorter)


@given(FACTS, SETUPS, MEMORY)
def test_the_careful_estimate_is_never_above_the_optimistic_one(facts: ModelFacts, setup: Setup, memory: float) -> None:
    taken, found = overhead(facts, setup), room(facts, gpu(memory), setup)
    assert taken.careful >= taken.optimistic > 0
    assert found is None or found.careful <= found.optimistic


@given(FACTS, SETUPS, MEMORY)
def test_the_largest_context_is_the_largest_that_fits(facts: ModelFacts, setup: Setup, memory: float) -> None:
    longest = largest_context(facts, gpu(memory), setup)
    fitting = room(facts, gpu(memory), replace(setup, max_model_len=max(1, longest)))
    beyond = room(facts, gpu(memory), replace(setup, max_model_len=longest + 1))
    assert fitting is not None
    assert beyond is not None
    assert longest == 0 or fitting.needed <= fitting.careful
    assert longest == (facts.longest_context or 2**24) or beyond.needed > beyond.careful


@given(FACTS, SETUPS, MEMORY)
def test_every_remedy_is_one(facts: ModelFacts, setup: Setup, memory: float) -> None:
    found = check_fit(facts, gpu(memory), setup, [gpu(memory * 2)])
    for remedy in found.remedies:
        size = memory * 2 if remedy.field == "gpu.type" else memory
        assert outcome(facts, size, changed(setup, remedy)) is Outcome.FITS


def changed(setup: Setup, remedy: Remedy) -> Setup:
    setup = replace(setup, devices=remedy.count or setup.devices)
    if remedy.context:
        setup = replace(setup, max_model_len=remedy.context)
    number = int(remedy.value) if remedy.value.isdecimal() else 0
    return {
        "maxModelLen": lambda: replace(setup, max_model_len=number),
        "kvCacheDtype": lambda: replace(setup, kv_dtype=remedy.value),
        "maxNumSeqs": lambda: replace(setup, max_num_seqs=number),
        "quantization": lambda: replace(setup, quantization=remedy.value),
        "gpu.count": lambda: replace(setup, devices=number),
        "gpu.type": lambda: setup,
        "model.uri": lambda: replace(setup, quantization=remedy.value.split()[1]),
    }[remedy.field]()
