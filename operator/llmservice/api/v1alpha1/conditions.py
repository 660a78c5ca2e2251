"""The closed lists of condition types and reasons."""

from enum import StrEnum


class ConditionType(StrEnum):
    """What a condition is about."""

    READY = "Ready"
    """The declared state is reached."""
    AVAILABLE = "Available"
    """At least one endpoint answers."""
    RECONCILING = "Reconciling"
    """The current generation is not yet rolled out at its floor."""
    STALLED = "Stalled"
    """Nothing but an edit of the resource, or time after a wedged start, can help."""
    SCALING_ACTIVE = "ScalingActive"
    """Replicas follow the autoscaler's decisions."""
    METRICS_AVAILABLE = "MetricsAvailable"
    """What decisions are made from could be read."""
    UPDATE_AVAILABLE = "UpdateAvailable"
    """A newer operator, catalogue or setting would change the replicas, which stay as they are until asked for."""


class Reason(StrEnum):
    """Why a condition is what it is; also the reason of events. `reasons.py` says what each means and what to do."""

    READY = "Ready"
    SUSPENDED = "Suspended"
    SCALED_TO_ZERO = "ScaledToZero"
    PROGRESSING = "Progressing"
    STARTING = "Starting"
    LOADING = "Loading"

    INVALID_SPEC = "InvalidSpec"
    UNKNOWN_ENGINE = "UnknownEngine"
    UNKNOWN_VERSION = "UnknownVersion"
    UNKNOWN_ACCELERATOR = "UnknownAccelerator"
    AMBIGUOUS_ACCELERATOR = "AmbiguousAccelerator"
    OWNED_ARGUMENT = "OwnedArgument"
    UNSUPPORTED_MODEL_SOURCE = "UnsupportedModelSource"
    UNSUPPORTED_FIELD = "UnsupportedField"
    QUANTIZATION_MISSPELLED = "QuantizationMisspelled"

    NAME_CONFLICT = "NameConflict"
    REFUSED_BY_CLUSTER = "RefusedByCluster"
    PODS_REFUSED = "PodsRefused"

    UNSCHEDULABLE = "Unschedulable"
    INSUFFICIENT_ACCELERATORS = "InsufficientAccelerators"
    IMAGE_NAME_INVALID = "ImageNameInvalid"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105  (a reason, no secret)
    CONFIG_MAP_NOT_FOUND = "ConfigMapNotFound"
    CLAIM_NOT_FOUND = "ClaimNotFound"
    CLAIM_NOT_BOUND = "ClaimNotBound"
    VOLUME_MOUNT_FAILED = "VolumeMountFailed"
    CONTAINER_REFUSED = "ContainerRefused"

    CRASH_LOOPING = "CrashLooping"
    OUT_OF_MEMORY = "OutOfMemory"
    STARTUP_TIMED_OUT = "StartupTimedOut"
    MODEL_NOT_FOUND = "ModelNotFound"
    MODEL_ACCESS_DENIED = "ModelAccessDenied"
    ENGINE_ARGUMENT_REJECTED = "EngineArgumentRejected"
    QUANTIZATION_MISMATCH = "QuantizationMismatch"
    KV_CACHE_TOO_SMALL = "KVCacheTooSmall"
    GPU_NOT_USABLE = "GpuNotUsable"
    NODE_LOST = "NodeLost"

    NEWER_PLAN = "NewerPlan"
    MADE_BY_NEWER_OPERATOR = "MadeByNewerOperator"

    LOAD_ROSE = "LoadRose"
    LOAD_FELL = "LoadFell"
    STEADY = "Steady"
    STABILIZING = "Stabilizing"
    AT_MINIMUM = "AtMinimum"
    AT_MAXIMUM = "AtMaximum"
    OUT_OF_BOUNDS = "OutOfBounds"
    PODS_PENDING = "PodsPending"
    NO_FRESH_READINGS = "NoFreshReadings"
    PARTIAL_READINGS = "PartialReadings"
    SIGNAL_MISSING = "SignalMissing"
    ADVISE_ONLY = "AdviseOnly"
    METRICS_READ = "MetricsRead"
    SCALED_UP = "ScaledUp"
    SCALED_DOWN = "ScaledDown"
    OVERRULED = "Overruled"
