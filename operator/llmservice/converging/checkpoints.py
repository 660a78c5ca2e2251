"""What was learned of a service, as the text in its status: for which replicas it holds, when it is worth writing."""

import hashlib

import orjson

from llmservice.autoscaling.checkpoint import MAX_CHARACTERS, decoded, encoded
from llmservice.autoscaling.demand import cold_start_seconds
from llmservice.autoscaling.memory import Memory
from llmservice.planning.service_plan import ServicePlan

_SEPARATOR = "/"
_SHARE = 0.1


def digest_of(plan: ServicePlan) -> str:
    """Eight characters that change with all that makes a replica faster or slower: then what was learned is void."""
    parts = (
        plan.engine,
        plan.engine_version,
        plan.model,
        plan.quantization,
        plan.accelerator,
        plan.devices,
        plan.max_num_seqs,
        plan.container.args,
    )
    return hashlib.blake2b(orjson.dumps(parts), digest_size=4).hexdigest()


def checkpoint_text(digest: str, memory: Memory) -> str:
    """The checkpoint, at most as long as the status allows."""
    return f"{digest}{_SEPARATOR}{encoded(memory, MAX_CHARACTERS - len(digest) - len(_SEPARATOR))}"


def resumed(text: str, digest: str) -> Memory | None:
    """The memory of a checkpoint; of other replicas what counts for those of this digest.

    An empty memory where there is no checkpoint; None for one that cannot be read: damaged, or of another version.
    """
    if not text:
        return Memory()
    of, _, checkpoint = text.partition(_SEPARATOR)
    memory = decoded(checkpoint)
    return memory.of_other_replicas() if memory and of != digest else memory


def has_moved(before: Memory, after: Memory) -> bool:
    """Whether a restart from the older memory would lose something: one of its figures moved by a tenth."""
    return any(abs(new - old) > _SHARE * abs(old) for old, new in zip(_figures(before), _figures(after), strict=True))


def _figures(memory: Memory) -> tuple[float, ...]:
    """Readings behind the capacity line, requests behind the violation curve, the last hour's load, the cold start."""
    capacity, demand = memory.capacity, memory.demand
    return (
        sum(point.readings for point in capacity.line.values()),
        sum(measured.requests for measured in capacity.violations.values()) / capacity.violation_weight,
        float(len(demand.half_minutes)),
        float(sum(demand.half_minutes)),
        cold_start_seconds(demand),
    )
