"""What every engine's log says when devices, their driver or the way between them fail.

The words are those of the CUDA runtime (cudaGetErrorString), of HIP, NCCL, PyTorch 2.9 (c10/cuda/CUDAFunctions.cpp,
csrc/distributed/c10d/ProcessGroupNCCL.cpp) and of NVIDIA's container toolkit.
"""

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.engines.engine import LogPattern
from llmservice.untrusted.patterns import compiled

DRIVER_TOO_OLD = (
    r"NVIDIA driver on your system is too old|CUDA driver version is insufficient|unsatisfied condition: (cuda|driver)"
    r"|PTX was compiled with an unsupported toolchain"
)
"""For engines that have a remedy of their own."""

ACCELERATOR_LOG_PATTERNS = (
    LogPattern(
        cause="the device is faulty",
        reason=Reason.GPU_FAULTY,
        pattern=compiled(
            r"uncorrectable (ECC|NVLink) error|[Hh]ardware stack error|GPU has fallen off the bus|GPU is lost"
            r"|cannot allocate unhealthy devices"
        ),
        remedy=(
            "drain the node and have the device reset or replaced; nvidia-smi -q and Xid lines of its kernel tell more"
        ),
        self_healing=True,
    ),
    LogPattern(
        cause="the driver is older than the CUDA libraries, and the card is not one they are compatible with",
        reason=Reason.DRIVER_TOO_OLD,
        pattern=compiled(r"forward compatibility was attempted on non supported HW|Error 804"),
        remedy="update the node's driver, or set an older spec.engineOptions.version or image",
    ),
    LogPattern(
        cause="the compatibility libraries of CUDA are older than the driver",
        reason=Reason.DRIVER_MISMATCH,
        pattern=compiled(r"unsupported display driver ?/ ?cuda driver combination|Error 803"),
        remedy=(
            "leave out VLLM_ENABLE_CUDA_COMPATIBILITY and set LD_LIBRARY_PATH=/usr/local/nvidia/lib64:/usr/lib64 in "
            "spec.engineOptions.env"
        ),
    ),
    LogPattern(
        cause="the driver of the node is too old",
        reason=Reason.DRIVER_TOO_OLD,
        pattern=compiled(DRIVER_TOO_OLD),
        remedy="update the node's driver (CUDA 13 needs R580), or set an older spec.engineOptions.version or image",
    ),
    LogPattern(
        cause="the fabric between the devices is not started",
        reason=Reason.GPU_NOT_USABLE,
        pattern=compiled(r"Error 802|system not yet initialized"),
        remedy="start NVIDIA's Fabric Manager on the node, in the version of its driver",
        self_healing=True,
    ),
    LogPattern(
        cause="the engine has no kernels for this card",
        reason=Reason.GPU_NOT_SUPPORTED,
        pattern=compiled(
            r"no kernel image is available|device kernel image is invalid|invalid device function"
            r"|is not compatible with the current PyTorch installation"
        ),
        remedy="set another spec.gpu.type, or a spec.engineOptions.version that is built for it",
    ),
    LogPattern(
        cause="the device is in use by another process that does not share it",
        reason=Reason.GPU_BUSY,
        pattern=compiled(r"CUDA-capable device(s|\(s\))? (is|are|is/are) busy or unavailable"),
        remedy="end what uses it outside Kubernetes, or set its compute mode to default (nvidia-smi -c 0)",
        self_healing=True,
    ),
    LogPattern(
        cause="the user of the pod may not open the device",
        reason=Reason.GPU_NOT_USABLE,
        pattern=compiled(r"Unable to open /dev/kfd"),
        remedy="add the group that owns it on the node to spec.pod.securityContext.supplementalGroups",
    ),
    LogPattern(
        cause="the memory of the device is used up",
        reason=Reason.OUT_OF_MEMORY,
        pattern=compiled(r"(CUDA|HIP) out of memory|OutOfMemoryError|CUBLAS_STATUS_ALLOC_FAILED"),
        remedy="lower spec.maxNumSeqs or spec.maxModelLen, take a quantized checkpoint, or raise spec.gpu.count",
    ),
    LogPattern(
        cause="a kernel failed on the device",
        reason=Reason.ENGINE_CRASHED,
        pattern=compiled(r"illegal memory access was encountered|device-side assert triggered"),
        remedy="set another spec.engineOptions.version, and report it to the engine's project",
        uncertain=True,
    ),
    LogPattern(
        cause="two parts of the model got the same device",
        reason=Reason.COLLECTIVE_FAILED,
        pattern=compiled(r"Duplicate GPU detected"),
        remedy="a replica spreads over whole devices only: set spec.gpu.count: 1, or a spec.gpu.type that is no slice",
    ),
    LogPattern(
        cause="the devices cannot reach each other's memory",
        reason=Reason.COLLECTIVE_FAILED,
        pattern=compiled(r"peer access is not supported|peer mapping resources exhausted"),
        remedy="set NCCL_P2P_DISABLE=1 in spec.engineOptions.env",
    ),
    LogPattern(
        cause="the processes of the replica waited for each other in vain",
        reason=Reason.COLLECTIVE_FAILED,
        pattern=compiled(
            r"[Ww]atchdog caught collective operation timeout|DistStoreError: |client socket has timed out after"
            r"|Timed out after [0-9]+ seconds waiting for clients"
        ),
        remedy=(
            "see the log for the one that died; if none did, set NCCL_P2P_DISABLE=1 in spec.engineOptions.env, or have "
            "ACS and the IOMMU of the node turned off"
        ),
        uncertain=True,
    ),
    LogPattern(
        cause="the exchange between the devices failed",
        reason=Reason.COLLECTIVE_FAILED,
        pattern=compiled(r"NCCL error|nccl(System|UnhandledCuda|Internal|Remote)Error"),
        remedy="set NCCL_DEBUG=INFO in spec.engineOptions.env and read its warnings, or set spec.gpu.count: 1",
        uncertain=True,
    ),
    LogPattern(
        cause="no device can be used",
        reason=Reason.GPU_NOT_USABLE,
        pattern=compiled(
            r"No (CUDA|HIP) GPUs are available|no CUDA-capable device is detected|Found no NVIDIA driver"
            r"|Failed to infer device type|not enough cuda devices|NotEnoughCUDADevices"
            r"|failed to initialize (CUDA|ROCm)"
            r"|libcuda\.so[.0-9]*: cannot open|nvml error: |Torch not compiled with CUDA"
        ),
        remedy=(
            "image, driver and device do not match: check the node, spec.pod.runtimeClassName and "
            "spec.engineOptions.version; where a group owns /dev/dri, add its id on the node to "
            "spec.pod.securityContext.supplementalGroups"
        ),
        uncertain=True,
    ),
)
"""The most specific first: where one process fails, the others wait for it in vain."""
