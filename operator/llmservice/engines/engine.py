"""The interface of an engine: what planning asks of it and what it answers, as values."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.engine_version import EngineVersion
from llmservice.engines.adapters import Adapter, AdapterSupport
from llmservice.engines.memory_use import MemoryUse
from llmservice.engines.metric_names import MetricNames
from llmservice.engines.parallelism import ONE_DEVICE, Parallelism, ParallelUse
from llmservice.engines.start_report import StartReport
from llmservice.engines.start_times import StartTimes
from llmservice.engines.timed_log import TimedLog
from llmservice.models.model_facts import Task
from llmservice.untrusted.patterns import Pattern

PORT = 8000
"""Where a replica answers; a restricted pod cannot bind the ports below 1024."""

PROXIED_PORT = 8001
"""Where the engine behind a proxy listens, on loopback."""

LEADER_ADDRESS, NODE_RANK = "$(LWS_LEADER_ADDRESS)", "$(LWS_WORKER_INDEX)"
"""In the arguments of a group's containers: where its first node is, and the number of this one, from 0. Its controller
sets the variables (sigs.k8s.io/lws v0.9.0, pkg/utils/pod/pod_utils.go, AddLWSVariables), the kubelet expands them."""

EVERYWHERE, LOOPBACK = "0.0.0.0", "127.0.0.1"  # noqa: S104  (the pod's own address)

MODELS_PATH = "/models"
"""Where a claim or an image with weights is mounted."""

COMPILED_PATH = "/compiled"
"""Where an engine keeps what it compiles, when there is a place that outlives the replica."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """One computed default: the field, its value as text, and why this value."""

    field: str
    value: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """Where the weights come from, decided by planning.

    `scheme` is `hf`, `pvc`, `oci`, `ollama`, `s3` or `gs`. `repository` is `owner/name` (hf) or the whole URI (ollama,
    s3, gs); `path` is the absolute path inside the container (pvc, oci). `file` is the GGUF file the user named, else
    empty. `claim` or `image` is what is mounted at MODELS_PATH, empty for none. `hub_cache` is the absolute path of the
    folder in which a repository lies as huggingface_hub keeps it, where it is on a claim. `offline`: all of it is
    there, no hub is asked.
    """

    scheme: str
    repository: str = ""
    path: str = ""
    revision: str = ""
    file: str = ""
    claim: str = ""
    image: str = ""
    hub_cache: str = ""
    offline: bool = False

    @property
    def is_mounted(self) -> bool:
        """Whether it is read from a volume: nothing is downloaded to the replica."""
        return bool(self.claim or self.image)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A small model that guesses `tokens` tokens ahead, which the model then checks at once; 0: the engine decides."""

    source: ModelSource
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingRequest:
    """What is to be served, in the terms of the resource; every number is decided.

    `max_model_len` is tokens per request (prompt + answer), 0 where the engine finds it out; `max_num_seqs` concurrent
    requests per replica; both mean the same on every engine. `devices` is 0 on CPU, `parallelism` how they share the
    model; `offload_layers` is how many layers are on them, None for all. `drain_seconds` is for running requests to
    finish, and, if it `drains_until_sent`, for clients that read slowly to take the rest. `cores` and `memory_bytes`
    are the container's limits; 0 means none. An `own_image` may take values that nobody knows here. `keeps_compiled`:
    what is written below COMPILED_PATH is there at the next start. It has to listen on `host` and `port`: behind a
    proxy on loopback. `task` is what the model is asked for, one of the engine's `Capabilities.tasks`. `projector`
    turns images or sound into the model's tokens, `draft` guesses ahead; None for none. `adapters` are those to load at
    the start; with `live_adapters` they come and go while it runs. With several `nodes` each has a share of the
    `devices`: the launch is that of the first, and its `worker` that of the others.
    """

    names: tuple[str, ...]
    model: ModelSource
    version: EngineVersion
    devices: int
    max_model_len: int
    max_num_seqs: int
    drain_seconds: int
    quantization: str = "auto"
    dtype: str = ""
    kv_cache_dtype: str = ""
    trust_remote_code: bool = False
    cores: float = 0.0
    memory_bytes: int = 0
    offload_layers: int | None = None
    own_image: bool = False
    drains_until_sent: bool = True
    keeps_compiled: bool = False
    host: str = EVERYWHERE
    port: int = PORT
    task: Task = Task.GENERATE
    projector: ModelSource | None = None
    draft: Draft | None = None
    adapters: tuple[Adapter, ...] = ()
    live_adapters: bool = False
    parallelism: Parallelism = ONE_DEVICE
    nodes: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpProbe:
    """An HTTP GET on the engine's port. `failures` consecutive failures count; times are in seconds.

    `expects` is what the answer has to contain, which only a proxy can check.
    """

    path: str
    period_seconds: int
    timeout_seconds: int
    failures: int
    expects: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """`startup` waits for the longest start (planning sets its failures), the others tell busy from hung."""

    startup: HttpProbe
    readiness: HttpProbe
    liveness: HttpProbe


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLaunch:
    """How the engine starts on the other nodes of a replica: it computes there, and answers no client.

    After SIGTERM it ends within `stop_seconds`: when the first node's engine is gone there is nothing left to do.
    """

    args: tuple[str, ...]
    command: tuple[str, ...] = ()
    stop_seconds: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How one replica is started and stopped.

    An empty `command` keeps the image's entrypoint. `environment` maps names to values. `writable_paths` become empty
    volumes. `files` are configuration files: absolute path → text. `pre_stop` is a command run in the container before
    SIGTERM, at most `pre_stop_seconds` long; `stop_seconds` is what the engine itself may take after SIGTERM.
    `needs_init` is true for an engine that ignores SIGTERM as process 1 of its container, `needs_shared_memory` for one
    whose processes exchange buffers even with one device or none. `compiles`: it uses COMPILED_PATH. `defaults` are
    values the engine chose, `notes` are sentences for `status.plan`. `worker` is None on one node.
    """

    args: tuple[str, ...]
    probes: Probes
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    writable_paths: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    pre_stop: tuple[str, ...] = ()
    pre_stop_seconds: int = 0
    stop_seconds: int = 0
    needs_init: bool = False
    needs_shared_memory: bool = False
    compiles: bool = False
    defaults: tuple[Default, ...] = ()
    notes: tuple[str, ...] = ()
    worker: WorkerLaunch | None = None


KEYS_INSTEAD = "use spec.auth.keysSecretRef: it guards every path, and leaves probes and metrics open"
"""The remedy for an engine's own options of API keys."""

RemedyByValue = Callable[[EngineVersion, str], str]
"""The version and the value of an owned flag → remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedArguments:
    """What the operator sets itself: flags with every alias, and the equivalent environment variables.

    `flags` maps each spelling (`--ctx-size`, `-c`) to a remedy, as the end of a sentence ("use spec.maxModelLen").
    `environment` does the same for variable names, in upper case. `by_value` maps a remedy to one that knows more when
    the value is known; it answers ``""`` where it does not.
    """

    flags: Mapping[str, str]
    environment: Mapping[str, str]
    by_value: Mapping[str, RemedyByValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPattern:
    """A line in an engine's log that shows why it exited.

    `pattern` finds it; `cause` says in a few words what is wrong and begins the message, `remedy` ends it.
    `remedy_in_numbers` is the remedy with the numbers that the pattern's groups find in the log, by their names:
    "set spec.maxModelLen: {largest}". It replaces `remedy` where all of them are known. `largest` is the largest
    context that fits: the engine's figure, or else ours. `self_healing` is true for what may end without an edit of the
    resource, such as a hub that is down; `uncertain` for what may, though nobody does anything: a node that is short of
    memory. Where neither is true, a few failed starts make the resource Stalled.
    """

    cause: str
    reason: Reason
    pattern: Pattern
    remedy: str
    remedy_in_numbers: str = ""
    self_healing: bool = False
    uncertain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Syntax:
    """How an engine's parser reads a command line, besides exact names and values in words of their own.

    `underscores`: `--ctx_size` is `--ctx-size`. `abbreviations`: the beginning of one option is that option. `parts`:
    `--config.part value` sets a part of a configuration. `any_word`: the word behind an option is its value even when
    it begins with a dash. `levels` are short options with their value in the same word (`-O3`), with the long one.
    `variables` is the prefix of variables that no other program reads, and of which every one that a version reads was
    recorded; empty where there is none.
    """

    underscores: bool = False
    abbreviations: bool = False
    parts: bool = False
    any_word: bool = False
    levels: Mapping[str, str] = field(default_factory=dict)
    variables: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What differs between engines and matters to planning, so that no code compares engine names.

    `usual`: commands mean this one when none is named. `proxied`: it measures nothing and has no queue; a proxy before
    it bounds its concurrent requests, queues and counts them. `client_paths` are what clients may ask for there, where
    the engine lets everybody do more: paths, `/v1/*` for all that begin with `/v1/`; empty for all. `bounds_context`:
    it refuses or cuts requests that are longer than it was told. `schemes` are the model sources. `revisions`: it can
    load a commit or branch. `remote_code`: it can run code from the model's repository. `dtype`: it accepts a number
    format, `float32`: this one too. `gguf`: it loads one file of a repository. `hub_token`: it reads HF_TOKEN.
    `hub_cache`: it finds a repository by its name in a read-only cache of the hub. `one_word_arguments`: its entrypoint
    splits arguments at spaces. `equals_sign`: it accepts `--flag=value`. `glued` are the one-letter options that it
    accepts in one word with their value (`-p8080`) or with other options (`-ep`). `syntax` is the rest of how it reads
    arguments. `offload`: it can have some layers on devices and the others on the CPU. `memory` is how it uses the
    memory of devices, None if that is not known. `offloads_to_shared_memory` is the option whose value is GiB of KV
    cache in /dev/shm, `offloads_to_host` that for GiB of weights of each device. `longer_context` are options and
    variables, the usual first, without which it ends when it is asked for more tokens than the model's config says;
    empty where it goes on. `tasks` are the kinds of model that it serves. `projector` and `draft` are the sources from
    which it loads one beside the model, none where it takes none. `adapters` is what it does with adapters, None:
    nothing. `parallelism` is how it can divide a model among devices, None where nobody can choose. `across_nodes` are
    the options by which several nodes share a model, which a version must know; empty where it has none.
    """

    schemes: frozenset[str]
    usual: bool = False
    proxied: bool = False
    client_paths: tuple[str, ...] = ()
    bounds_context: bool = True
    revisions: bool = False
    remote_code: bool = False
    dtype: bool = False
    float32: bool = False
    gguf: bool = False
    offload: bool = False
    hub_token: bool = True
    hub_cache: bool = False
    one_word_arguments: bool = False
    equals_sign: bool = True
    glued: frozenset[str] = frozenset()
    syntax: Syntax = Syntax()
    parallelism: ParallelUse | None = None
    across_nodes: tuple[str, ...] = ()
    memory: MemoryUse | None = None
    offloads_to_shared_memory: str = ""
    offloads_to_host: str = ""
    longer_context: tuple[str, ...] = ()
    tasks: frozenset[Task] = frozenset({Task.GENERATE})
    projector: frozenset[str] = frozenset()
    draft: frozenset[str] = frozenset()
    adapters: AdapterSupport | None = None


class Engine(Protocol):
    """An engine: a name, what it can do, what is owned, and how it is launched."""

    @property
    def name(self) -> str:
        """The value of `spec.engine`."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""
        ...

    @property
    def owned(self) -> OwnedArguments:
        """What users cannot set in `spec.engineOptions`."""
        ...

    @property
    def flags(self) -> frozenset[str]:
        """Every flag `launch` may render; a flag that the version does not have is left out."""
        ...

    @property
    def log_patterns(self) -> tuple[LogPattern, ...]:
        """Log lines that show why the engine exited, the most specific first."""
        ...

    def launch(self, request: ServingRequest) -> Launch:
        """How to start and stop one replica; raises InvalidSpec naming the field when the engine cannot do it."""
        ...

    def metric_names(self, version: EngineVersion) -> MetricNames:
        """The names of the metrics that the autoscaler reads, in this version."""
        ...

    def start_report(self, text: str) -> StartReport:
        """What the beginning of its log says about devices and the KV cache; the text is a stranger's, and cut."""
        ...

    def start_times(self, log: TimedLog) -> StartTimes:
        """What the beginning of its log says about how long the parts of the start took; the text is a stranger's."""
        ...
