"""The status, as types: for the schema, and for the test that validates what the operator writes.

The operator writes its status as plain JSON and reads it back as it stands.
"""

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from llmservice.api.v1alpha1.base import ApiModel
from llmservice.api.v1alpha1.cost_status import CostStatus
from llmservice.api.v1alpha1.idle_status import IdleStatus
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.rollout_status import RolloutStatus
from llmservice.api.v1alpha1.route_status import RouteStatus
from llmservice.api.v1alpha1.startup_status import StartupStatus
from llmservice.api.v1alpha1.weights_status import WeightsStatus

Count = Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
# Bounds in a schema are doubles: above 2**53 the API server rounds them into overflow.
Generation = Annotated[int, Field(strict=True, ge=-1, le=2**53)]
Amount = Annotated[int, Field(strict=True, ge=0, le=2**53)]
Decimal = Annotated[str, Field(max_length=24, pattern=r"^[0-9]+(\.[0-9]+)?$")]
Short = Annotated[str, Field(max_length=512)]
Sentence = Annotated[str, Field(max_length=4096)]
Words = Annotated[tuple[Annotated[str, Field(max_length=8192)], ...], Field(max_length=512)]

_ATOMIC: dict[str, JsonValue] = {"x-kubernetes-map-type": "atomic"}
"""Written whole by one owner: the API server need not track who owns each field (a third of the cost of a write)."""


class StatusCondition(ApiModel):
    """One aspect of the state, in the form of metav1.Condition."""

    type: Annotated[str, Field(min_length=1, max_length=316)]
    """What the condition is about."""
    status: Literal["True", "False", "Unknown"]
    """Whether it holds."""
    observed_generation: Annotated[int, Field(strict=True, ge=0, le=2**53)] | None = None
    """metadata.generation the condition was found for."""
    last_transition_time: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})]
    """When `status` changed last."""
    reason: Annotated[str, Field(min_length=1, max_length=1024)]
    """Reason in one word, of a closed list."""
    message: Annotated[str, Field(max_length=32768)]
    """Reason in a sentence that ends with what to do."""


class PlannedDefault(ApiModel):
    """One value that was computed because the spec omits it."""

    field: Short
    """Path of the field in the spec."""
    value: Sentence
    """The value."""
    reason: Sentence
    """Why this value."""


class PlanStatus(ApiModel):
    """What was decided for a generation."""

    generation: Generation
    """metadata.generation the plan was made for."""
    render_version: Count
    """Version of the renderer that made the manifests."""
    engine_version: Short
    """Version of the engine, a row of the catalogue."""
    image: Short
    """Image of the engine."""
    command: Words = ()
    """Command of the container. Empty: the image's own."""
    args: Words = ()
    """Arguments of the container."""
    accelerator: Short = ""
    """Accelerator type. Empty: none or not known."""
    devices: Count
    """Devices per replica, on all its nodes; 0 on the CPU."""
    nodes: Count | None = None
    """Nodes of a replica, where it has several."""
    resource_name: Short = ""
    """Resource the devices are asked for by. Empty on the CPU."""
    max_model_len: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
    """Tokens one request may use, prompt and answer together."""
    max_num_seqs: Annotated[int, Field(strict=True, ge=0, le=2**31 - 1)]
    """Requests worked on at once per replica."""
    pod_security: Literal["restricted", "baseline", "privileged"]
    """Pod Security Standard the pods meet."""
    defaults: Annotated[tuple[PlannedDefault, ...], Field(max_length=64), Unique(("field",))] = ()
    """Every computed value with its reason."""
    notes: Annotated[tuple[Sentence, ...], Field(max_length=64)] = ()
    """Sentences worth knowing about this plan."""
    task: Short | None = None
    """What the model is asked for, where that is not Generate."""
    facts: Annotated[str, Field(max_length=16384)] = ""
    """What the plan was made from (JSON): kept, so that the same generation is always planned alike."""


class ScheduleStatus(ApiModel):
    """The bounds of this hour, where `spec.autoscaling.schedules` sets some."""

    name: Short | None = None
    """The schedule in force. Omitted: none, the autoscaler's own bounds hold."""
    min_replicas: Count
    """Replicas that always run now."""
    max_replicas: Count
    """Replicas that may run at most now."""
    until: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})] | None = None
    """When others follow. Omitted: not within a week."""
    following: Short | None = None
    """The schedule that follows then. Omitted: none."""


class AutoscalingStatus(ApiModel):
    """What the autoscaler decided last. Live numbers stand in metrics and in `llmservice explain`."""

    replicas: Count | None = None
    """Replicas decided last."""
    advised_replicas: Count | None = None
    """Replicas that mode Advise would run."""
    reason: Short | None = None
    """Reason of the last decision in one word, of a closed list."""
    message: Sentence | None = None
    """The last decision with the numbers behind it."""
    decided_at: Annotated[str, Field(max_length=64, json_schema_extra={"format": "date-time"})] | None = None
    """When it was decided."""
    checkpoint: Annotated[str, Field(max_length=4096)] | None = None
    """What was learned, so that a restarted operator goes on with it."""
    read_failures: Annotated[tuple[Short, ...], Field(max_length=16)] = ()
    """Why ready replicas cannot be read, each reason once, of a closed list."""
    schedule: Annotated[ScheduleStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """The bounds of this hour, and when others follow."""
    idle: Annotated[IdleStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """For minReplicas 0: whether it sleeps, or when it will."""


class StartStatus(ApiModel):
    """What the engine reported at its start about devices and KV cache, of the replica with the least room.

    Beside it stands what was predicted. Omitted is what the engine does not say.
    """

    backend: Short | None = None
    """What computes, in the engine's word: cuda, rocm, xpu, ..., or cpu."""
    devices: Annotated[tuple[Annotated[str, Field(max_length=80)], ...], Field(max_length=64)] = ()
    """Devices in use, by the engine's names."""
    device_count: Count | None = None
    """How many devices are in use."""
    offloaded_layers: Count | None = None
    """Layers on devices."""
    layers: Count | None = None
    """Layers in all."""
    kv_cache_bytes: Amount | None = None
    """KV cache on each device, in bytes."""
    kv_cache_tokens: Amount | None = None
    """Tokens the KV cache holds in all."""
    request_tokens: Amount | None = None
    """Tokens of a full-length request."""
    full_length_requests: Decimal | None = None
    """How many full-length requests the KV cache holds at once."""
    predicted_full_length_requests: Decimal | None = None
    """The same, as it was predicted."""
    predicted_kv_cache_bytes: Amount | None = None
    """KV cache on each device that was predicted at least, in bytes."""
    predicted_kv_cache_bytes_at_most: Amount | None = None
    """KV cache on each device that was predicted at most, in bytes."""
    starts: Annotated[tuple[Annotated[str, Field(max_length=12)], ...], Field(max_length=64)] = ()
    """Starts of engines that reported this, so that a restarted operator need not read their logs again."""


class AdapterStatus(ApiModel):
    """One adapter."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    """Its name in the spec."""
    ready_replicas: Count
    """Ready replicas that have it."""
    message: Short | None = None
    """Why one has not."""


class LLMServiceStatus(ApiModel):
    """What the operator says about the resource."""

    observed_generation: Generation = -1
    """metadata.generation this status is about; -1 before the operator has looked."""
    conditions: Annotated[tuple[StatusCondition, ...], Field(max_length=32), Unique(("type",))] = ()
    """The state by aspect: Ready, Available, Reconciling, Stalled."""
    replicas: Count | None = None
    """Replicas that exist."""
    ready_replicas: Count | None = None
    """Replicas that serve."""
    desired_replicas: Count | None = None
    """Replicas that are asked for."""
    replica_summary: Annotated[str, Field(max_length=32)] | None = None
    """Replicas that serve / are asked for."""
    selector: Short | None = None
    """Label selector of the pods, for the scale subresource."""
    url: Short | None = None
    """Base URL of the OpenAI API inside the cluster."""
    route: Annotated[RouteStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """Where clients outside the cluster reach it, by `spec.route`."""
    models: Annotated[tuple[Annotated[str, Field(max_length=128)], ...], Field(max_length=32)] = ()
    """Names clients may use for the model, and for those of its adapters that they ask for as for a model."""
    adapters: Annotated[tuple[AdapterStatus, ...], Field(max_length=16), Unique(("name",))] = ()
    """The adapters, and which replicas have them."""
    plan: Annotated[PlanStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """What was decided, and why."""
    start: Annotated[StartStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """What the engine reported at its start, beside what was predicted."""
    weights: Annotated[WeightsStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """The model's files on the claim of `spec.model.cache`, once they are complete."""
    rollout: Annotated[RolloutStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """How a change reaches the replicas, while it does."""
    startup: Annotated[StartupStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """How long a replica takes to start, by phases."""
    autoscaling: AutoscalingStatus | None = None
    """What the autoscaler decided last."""
    cost: Annotated[CostStatus | None, Field(json_schema_extra=_ATOMIC)] = None
    """What its devices did and cost, today and yesterday."""
