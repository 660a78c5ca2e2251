"""What every engine's log says when the node or the container gives it too little: disk, memory, threads, ports, CPU.

The words are those of the C library, Python and Rust. NCCL's are here too where they tell of /dev/shm.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

SYSTEM_LOG_PATTERNS = (
    LogPattern(
        cause="shared memory (/dev/shm) is too small",
        reason=Reason.SHARED_MEMORY_TOO_SMALL,
        pattern=compiled(
            r": (?P<needed>[0-9]+) MiB required, [0-9]+ MiB free\. Increase /dev/shm"
            r"|shared memory segment \[?/dev/shm|No space left on device: '/(dev/shm|psm_)"
            r"|[Bb]us error|insufficient shared memory \(shm\)"
        ),
        remedy="raise spec.pod.sharedMemory",
        remedy_in_numbers="raise spec.pod.sharedMemory by {needed}Mi",
    ),
    LogPattern(
        cause="the quota of a volume is used up",
        reason=Reason.DISK_FULL,
        pattern=compiled(r"Disk quota exceeded|\[Errno 122\]|os error 122"),
        remedy="raise the quota of the storage behind the claim, or delete what is not needed there",
    ),
    LogPattern(
        cause="the disk is full",
        reason=Reason.DISK_FULL,
        pattern=compiled(r"[Nn]o space left on device|\[Errno 28\]|os error 28"),
        remedy=(
            "raise spec.pod.resources.requests.ephemeral-storage (and the limit, if one is set), or keep the "
            "model on a claim (pvc://)"
        ),
        uncertain=True,
    ),
    LogPattern(
        cause="no more threads can be started",
        reason=Reason.PROCESS_LIMIT_REACHED,
        pattern=compiled(
            r"can't start new thread|pthread_create(\(\))?( failed|: Resource temporarily)|blas_thread_init: "
            r"|Resource temporarily unavailable \(os error 11\)"
        ),
        remedy=(
            "raise the limit of process ids per pod of the node (kubelet: podPidsLimit), or start fewer threads: "
            "OMP_NUM_THREADS and OPENBLAS_NUM_THREADS in spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="too many files are open",
        reason=Reason.PROCESS_LIMIT_REACHED,
        pattern=compiled(r"[Tt]oo many open files|\[Errno 24\]|os error 24"),
        remedy="raise the limit of open files of the node's container runtime (LimitNOFILE)",
    ),
    LogPattern(
        cause="the port is in use",
        reason=Reason.PORT_IN_USE,
        pattern=compiled(r"\[Errno 98\]|os error 98|couldn't bind HTTP server socket|name: EADDRINUSE"),
        remedy=(
            "another container or process of the pod listens there: opt the pod out of the injected sidecar, or leave "
            "out the argument that starts a second server"
        ),
    ),
    LogPattern(
        cause="the CPU lacks instructions that the engine is built for",
        reason=Reason.CPU_NOT_SUPPORTED,
        pattern=compiled(r"[Ii]llegal instruction|no CPU backend found|failed to initialize CPU backend"),
        remedy="choose nodes with a newer CPU in spec.pod.nodeSelector, or another build in spec.engineOptions.image",
    ),
    LogPattern(
        cause="the image is for another CPU architecture",
        reason=Reason.CPU_NOT_SUPPORTED,
        pattern=compiled(r"[Ee]xec format error"),
        remedy="set kubernetes.io/arch in spec.pod.nodeSelector, or spec.engineOptions.image",
    ),
    LogPattern(
        cause="the engine crashed in its own code",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"Segmentation fault|Segfault encountered"),
        remedy="set another spec.engineOptions.version, and report it to the engine's project",
    ),
    LogPattern(
        cause="the memory of the container is used up",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"(^|\s)MemoryError$|std::bad_alloc|Cannot allocate memory|can't allocate memory"),
        remedy="raise spec.pod.resources.limits.memory",
    ),
)
"""The most specific first: a full /dev/shm is also "no space left on device"."""

FILE_LOG_PATTERNS = (
    LogPattern(
        cause="the file system is read-only",
        reason=Reason.FILE_NOT_ACCESSIBLE,
        pattern=compiled(r"Read-only file system|\[Errno 30\]|os error 30"),
        remedy="leave out the path or the option that makes the engine write there; /cache and /tmp are writable",
    ),
    LogPattern(
        cause="the user of the pod may not open a file",
        reason=Reason.FILE_NOT_ACCESSIBLE,
        pattern=compiled(r"PermissionError: |Permission denied \(os error 13\)"),
        remedy="let the pod's user read it: set spec.pod.securityContext.fsGroup, runAsUser or supplementalGroups",
    ),
)
"""The last ones to look for: a cache that cannot be written is often only a warning."""
