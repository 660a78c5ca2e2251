"""The spec: what is to be served, on what, how often."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from llmservice.api.v1alpha1.auth import Auth
from llmservice.api.v1alpha1.autoscaling import MAY_SLEEP, Autoscaling
from llmservice.api.v1alpha1.base import ApiModel, Rule
from llmservice.api.v1alpha1.engine_options import EngineOptions
from llmservice.api.v1alpha1.gpu import Gpu
from llmservice.api.v1alpha1.lifecycle import Drain, Rollout, Startup
from llmservice.api.v1alpha1.lists import Unique
from llmservice.api.v1alpha1.model import Model
from llmservice.api.v1alpha1.network import NetworkPolicy
from llmservice.api.v1alpha1.pod import PodOptions
from llmservice.api.v1alpha1.route import Route
from llmservice.api.v1alpha1.sources import LoraAdapter
from llmservice.api.v1alpha1.text import Form

EngineName = Annotated[
    str,
    Field(min_length=1, max_length=32),
    Form(r"[a-z][-a-z0-9]*", "is not the name of an engine: write it in lower case, as vllm or llamacpp"),
]
Quantization = Annotated[
    str,
    Field(min_length=1, max_length=64),
    Form(r"[A-Za-z0-9][-._A-Za-z0-9]*", "is not the name of a quantization: write auto to let it be found"),
]
NumberFormat = Annotated[
    str,
    Field(min_length=1, max_length=32),
    Form(r"[a-z][_a-z0-9]*", "is not the name of a number format: names are written in lower case, or omit it"),
]


class LLMServiceSpec(ApiModel):
    """What is to be served. What is omitted is decided once per generation and explained in `status.plan`."""

    engine: EngineName
    """The engine that serves the model."""
    engine_options: EngineOptions = EngineOptions()
    """Version and image of the engine, and what is passed on to it."""
    model: Model
    """The model: where its weights are and what clients call it."""
    adapters: Annotated[tuple[LoraAdapter, ...], Field(max_length=16), Unique(("name",))] = ()
    """Adapters (LoRA) of the model, loaded beside it."""
    adapter_updates: Literal["Restart", "Live"] = "Restart"
    """How a change of the adapters reaches replicas. Restart: as any change of the model does. Live: while they run; on
    some engines every client that reaches their port may then load adapters, too."""
    quantization: Quantization = "auto"
    """What the checkpoint is, what to make of it on load, or the GGUF name as published. auto: found out."""
    dtype: NumberFormat | None = None
    """Number format of weights and activations. Omitted: the engine decides."""
    kv_cache_dtype: NumberFormat | None = None
    """Number format of the KV cache. Omitted: the engine decides."""
    gpu: Gpu = Gpu()
    """Devices of one replica. Required: a type, a resourceName, or count: 0."""
    fit: Literal["Enforce", "Warn", "Ignore"] = "Enforce"
    """What follows when the model cannot fit its devices. Enforce: no pod is made. Warn: the condition Fits says so.
    Ignore: nothing is computed."""
    max_model_len: Annotated[int, Field(strict=True, ge=1, le=2**24)] | None = None
    """Tokens one request may use, prompt and answer together. Omitted: computed."""
    max_num_seqs: Annotated[int, Field(strict=True, ge=1, le=8192)] | None = None
    """Requests worked on at once per replica; more than that queue. Omitted: computed."""
    replicas: Annotated[int, Field(strict=True, ge=0, le=1000)] | None = None
    """Replicas to run. Omitted: one to begin with, then whoever scales the Deployment."""
    autoscaling: Autoscaling | None = None
    """Bounds between which replicas follow the load. Omitted: the operator scales nothing."""
    rollout: Rollout = Rollout()
    """How a change reaches the replicas."""
    startup: Startup = Startup()
    """How long a replica may take to start."""
    drain: Drain = Drain()
    """How long running requests may take when a replica leaves."""
    pod: PodOptions = PodOptions()
    """Where and how the pods run: an allow-list of pod fields."""
    network_policy: NetworkPolicy | None = None
    """Who may reach the engines. Omitted: everybody; removed: everybody again. It restarts nothing."""
    route: Route | None = None
    """How clients outside the cluster reach the service: an HTTPRoute of the Gateway API. Omitted: none is made."""
    auth: Auth | None = None
    """Keys that clients must send. Omitted: everybody who reaches the Service is served."""
    suspend: Annotated[bool, Field(strict=True)] = False
    """True keeps this object and removes its pods."""

    rules: ClassVar = (
        Rule(
            cel="has(self.gpu) && (self.gpu.count == 0 || has(self.gpu.type) || has(self.gpu.resourceName))",
            holds=lambda spec: spec.gpu.count == 0 or bool(spec.gpu.type or spec.gpu.resource_name),
            message="set type or resourceName, or count: 0 for CPU",
            field_path=".gpu",
        ),
        Rule(
            cel="!has(self.replicas) || !has(self.autoscaling) || self.autoscaling.mode == 'Advise'",
            holds=lambda spec: spec.replicas is None or spec.autoscaling is None or spec.autoscaling.mode == "Advise",
            message="set by autoscaling: remove it, or set autoscaling.mode to Advise to keep a fixed number",
            field_path=".replicas",
        ),
        Rule(
            cel=f"!has(self.networkPolicy) || !has(self.autoscaling) || !{MAY_SLEEP.format('self.autoscaling')}",
            holds=lambda spec: (
                spec.network_policy is None or spec.autoscaling is None or not spec.autoscaling.may_sleep
            ),
            message="does not go with minReplicas 0, because what holds requests for a sleeping service would let in "
            "everybody: remove it, or set autoscaling.minReplicas to 1",
            field_path=".networkPolicy",
        ),
    )
