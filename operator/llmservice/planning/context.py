"""Context length and concurrency: tokens per request and concurrent requests, with the same meaning on every engine."""

from dataclasses import dataclass

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.api.v1alpha1.spec import LLMServiceSpec
from llmservice.engines.argument_values import flags_in
from llmservice.engines.engine import Default, Engine
from llmservice.errors import InvalidSpec
from llmservice.models.weights import weight_bytes
from llmservice.planning.decided import Decided, default
from llmservice.planning.facts import Facts
from llmservice.planning.fit.remedies import LEAST_CONTEXT, rounded_context
from llmservice.planning.fit.room import cache_of, largest_context
from llmservice.planning.fit.setup import Setup
from llmservice.planning.fit.start import incalculable, setup_of, share_unknown
from llmservice.planning.nodes import devices_of
from llmservice.planning.parallelism import choose_parallelism
from llmservice.planning.task import POOLED, task_of

_MOST_RESERVED_TOKENS = 32_768
"""Tokens of one slot, where an engine takes the KV cache of all slots at its start: more is asked for by name."""
_MOST_IN_ONE_STEP, _USUAL_IN_ONE_STEP = 8192, 2048
"""Tokens of a prompt that ends in one vector or score, where the engine takes memory for such a step at its start."""
_CONFIGURED_TWICE = ("Mistral", "Mixtral", "Pixtral", "Voxtral", "Ministral")
"""Architectures whose repositories may have a params.json too, which vLLM prefers and which may allow for more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Tokens per request (prompt + answer), 0 where the engine decides, and concurrent requests per replica."""

    max_model_len: int
    max_num_seqs: int
    defaults: tuple[Default, ...]


def choose_context(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> Context:
    """The values of the resource, else what suits the model, the device and the engine."""
    requests = _requests(spec, facts, engine)
    length = _length(spec, facts, engine, requests.value)
    return Context(
        max_model_len=length.value,
        max_num_seqs=requests.value,
        defaults=(*length.defaults, *requests.defaults),
    )


def check_length(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> None:
    """Raises InvalidSpec (ContextTooLong) for more tokens than the model takes, where the engine would end.

    Options of the resource may stretch the model, and an image of its own may take more.
    """
    longest, asked, options = facts.model.longest_context, spec.max_model_len or 0, spec.engine_options
    lifting = engine.capabilities.longer_context
    if not lifting or not 0 < longest < asked or options.image is not None or spec.fit != "Enforce":
        return
    given = {*flags_in(options.args), *(each.name for each in options.env)}
    if given.isdisjoint(lifting) and not facts.model.architecture.startswith(_CONFIGURED_TWICE):
        raise InvalidSpec(
            Reason.CONTEXT_TOO_LONG,
            f"the model takes {longest} tokens; set it to {longest} or less, or stretch the model with "
            f"{' or '.join(lifting[:2])} in spec.engineOptions",
            field="spec.maxModelLen",
        )


def _requests(spec: LLMServiceSpec, facts: Facts, engine: Engine) -> Decided[int]:
    """As many as are usual for the engine on a device of this size."""
    if spec.max_num_seqs is not None:
        return Decided(spec.max_num_seqs)
    use, accelerator, version = engine.capabilities.memory, facts.accelerator, facts.version
    copies = choose_parallelism(spec, facts, engine).data
    usual = copies * use.usual_requests(accelerator.memory_gib) if use and accelerator else 0
    wait = "more requests wait" if use and use.reserves_requests else "the KV cache may allow fewer, the others wait"
    if usual and accelerator:
        each = f", times {copies} copies" if copies > 1 else ""
        reason = f"usual for {version.engine} on {accelerator.memory_gib:g} GiB{each}; {wait}"
        return Decided(usual, default("maxNumSeqs", usual, reason))
    reason = f"usual for {version.engine}; {wait}"
    requests = copies * version.max_num_seqs
    return Decided(requests, default("maxNumSeqs", requests, reason))


def _length(spec: LLMServiceSpec, facts: Facts, engine: Engine, requests: int) -> Decided[int]:
    """What the model was made for, as far as it fits; for an unknown model what the engine finds out."""
    if spec.max_model_len is not None:
        return Decided(spec.max_model_len)
    longest, pooled = facts.model.longest_context, task_of(spec, facts) in POOLED
    if not longest:
        return _of_unknown_model(facts, pooled=pooled)
    setup = setup_of(spec, facts, engine, longest, requests)
    if setup is None or facts.accelerator is None or not _can_tell(spec, facts, setup):
        return _left_open(facts, longest)
    most = min(longest, _MOST_RESERVED_TOKENS) if setup.use.reserves_requests else longest
    most = min(most, _MOST_IN_ONE_STEP) if pooled and setup.use.reserves_requests else most
    fits = largest_context(facts.model, facts.accelerator, setup)
    if fits >= most:
        reason = "the model's context length"
        if most < longest:
            reason = f"KV cache for {requests} requests of this length is taken at the start; the model knows {longest}"
        return Decided(most, default("maxModelLen", most, reason))
    if fits < LEAST_CONTEXT:
        return _left_open(facts, longest, usual=LEAST_CONTEXT)
    length = rounded_context(fits)
    devices = _devices(facts, devices_of(spec, facts))
    reason = f"what fits {devices} beside the weights; the model's context length is {longest}"
    return Decided(length, default("maxModelLen", length, reason))


def _can_tell(spec: LLMServiceSpec, facts: Facts, setup: Setup) -> bool:
    """Whether what fits can be computed, and the resource wants that."""
    accelerator = facts.accelerator
    if (
        spec.fit == "Ignore"
        or accelerator is None
        or incalculable(spec, setup.use)
        or share_unknown(spec, facts, setup)
    ):
        return False
    known = accelerator.memory_gib and accelerator.image_variant in setup.use.variants
    return bool(known and weight_bytes(facts.model, setup.quantization) and cache_of(facts.model, setup))


def _of_unknown_model(facts: Facts, *, pooled: bool) -> Decided[int]:
    version = facts.version
    if pooled and version.max_model_len > _USUAL_IN_ONE_STEP:
        reason = "the whole prompt is computed in one step; nothing is known of the model, set it to what it takes"
        return Decided(_USUAL_IN_ONE_STEP, default("maxModelLen", _USUAL_IN_ONE_STEP, reason))
    if version.max_model_len:
        reason = "fits prompts of several pages; nothing is known of the model, set it up to the model's context length"
        return Decided(version.max_model_len, default("maxModelLen", version.max_model_len, reason))
    limit = "as far as memory allows" if version.fits_context else "and ends if it does not fit"
    reason = f"nothing is known of the model: {version.engine} takes its context length, {limit}"
    return Decided(0, default("maxModelLen", "auto", reason))


def _left_open(facts: Facts, longest: int, usual: int = 0) -> Decided[int]:
    """Where it cannot be computed what fits: what the engine fits itself, else a length that mostly does.

    `usual` is instead of the version's own number.
    """
    version = facts.version
    bound = version.max_model_len and (usual or version.max_model_len)
    if bound and longest <= bound:
        return Decided(longest, default("maxModelLen", longest, "the model's context length"))
    if bound:
        reason = f"fits prompts of several pages; raise it up to the model's {longest} tokens if memory allows"
        return Decided(bound, default("maxModelLen", bound, reason))
    reason = f"what fits cannot be told: {version.engine} takes the model's context length of {longest}"
    if version.fits_context:
        reason = f"{reason}, as far as memory allows"
    return Decided(0, default("maxModelLen", "auto", reason))


def _devices(facts: Facts, devices: int) -> str:
    return f"{devices} × {facts.device_name}" if devices > 1 else facts.device_name
