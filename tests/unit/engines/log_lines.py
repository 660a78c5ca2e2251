"""Lines as engines really wrote them when they exited, each with its source and the reason that it is to be told as.

Those of libraries that several engines use are here, those of one engine in the folder of its name.
"""

from importlib import import_module
from pathlib import Path

from tests.unit.engines.line import EVERY, LLAMACPP, PYTHON, TGI, VLLM, Line

SYSTEM_LINES = (
    Line(
        VLLM,
        "(EngineCore pid=72) ERROR RuntimeError: Insufficient space in /dev/shm for shared memory broadcast: 161 MiB "
        "required, 64 MiB free. Increase /dev/shm (e.g. --shm-size or --ipc=host).",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory by 161Mi",
        "vLLM 0.33.0, distributed/device_communicators/shm_broadcast.py",
    ),
    Line(
        EVERY,
        "a46f6c76528f:2777:5429 [0] misc/shmutils.cc:113 NCCL WARN Error while creating shared memory segment "
        "/dev/shm/nccl-v2jS20 (size 9637888)\nRuntimeError: NCCL error: unhandled system error",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "github.com/vllm-project/vllm/issues/4383",
    ),
    Line(
        PYTHON,
        "Fatal Python error: Bus error",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "github.com/vllm-project/vllm/issues/1771",
    ),
    Line(
        PYTHON,
        "OSError: [Errno 28] No space left on device: '/opt/ml/model/pytorch_model-00001-of-00005.bin' -> '/models/x'",
        "DiskFull",
        "requests.ephemeral-storage",
        "github.com/aws/sagemaker-huggingface-inference-toolkit/pull/80",
    ),
    Line(
        TGI,
        "Error: I/O error No space left on device (os error 28)",
        "DiskFull",
        "pvc://",
        "github.com/huggingface/hf-hub/issues/9",
    ),
    Line(
        EVERY,
        "OSError: [Errno 122] Disk quota exceeded: '/cache/huggingface/hub/tmp1'",
        "DiskFull",
        "quota",
        "Linux, errno 122 (EDQUOT), as Python writes it",
    ),
    Line(
        EVERY,
        "OpenBLAS blas_thread_init: pthread_create failed for thread 50 of 64: Resource temporarily unavailable",
        "ProcessLimitReached",
        "OPENBLAS_NUM_THREADS",
        "github.com/vllm-project/vllm/issues/5645, github.com/MIC-DKFZ/nnUNet/issues/1343",
    ),
    Line(
        PYTHON,
        "RuntimeError: can't start new thread",
        "ProcessLimitReached",
        "podPidsLimit",
        "github.com/chroma-core/chroma/issues/1682",
    ),
    Line(
        EVERY,
        "OSError: [Errno 24] Too many open files",
        "ProcessLimitReached",
        "LimitNOFILE",
        "Linux, errno 24 (EMFILE), as Python writes it",
    ),
    Line(
        VLLM,
        "ERROR:    [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
        "PortInUse",
        "sidecar",
        "Python 3.12, asyncio/base_events.py, with uvicorn's prefix",
    ),
    Line(
        TGI,
        "ERROR text_generation_router: Failed to bind to 0.0.0.0:8000: Address already in use (os error 98)",
        "PortInUse",
        "sidecar",
        "TGI, router/src/server.rs",
    ),
    Line(
        LLAMACPP,
        "0.00.002.073 E srv         start: couldn't bind HTTP server socket, hostname: 127.0.0.1, port: 18999",
        "PortInUse",
        "sidecar",
        "llama.cpp b11312, its program with a taken port",
    ),
    Line(
        EVERY,
        "start.sh: line 18:  1669 Illegal instruction     (core dumped) python -m vllm.entrypoints.openai.api_server",
        "CpuNotSupported",
        "spec.pod.nodeSelector",
        "github.com/intel/ipex-llm/issues/12922",
    ),
    Line(
        EVERY,
        "exec /app/llama-server: exec format error",
        "CpuNotSupported",
        "kubernetes.io/arch",
        "Linux, errno 8 (ENOEXEC), as runc writes it",
    ),
    Line(
        EVERY,
        "Fatal Python error: Segmentation fault",
        "EngineCrashed",
        "spec.engineOptions.version",
        "Python 3.12, Modules/faulthandler.c",
    ),
    Line(
        EVERY,
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "OutOfMemory",
        "limits.memory",
        "GNU libstdc++, what a C++ program says without memory",
    ),
    Line(
        PYTHON,
        "PermissionError: [Errno 13] Permission denied: '/.cache'",
        "FileNotAccessible",
        "spec.pod.securityContext",
        "github.com/vllm-project/vllm/issues/20127",
    ),
    Line(
        PYTHON,
        "OSError: [Errno 30] Read-only file system: '/models/chat/.locks'",
        "FileNotAccessible",
        "/cache",
        "Linux, errno 30 (EROFS), as Python writes it",
    ),
)

ACCELERATOR_LINES = (
    Line(
        EVERY,
        "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        "GpuFaulty",
        "node",
        "github.com/vllm-project/vllm/issues/5222",
    ),
    Line(
        PYTHON,
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
        "NumCudaDevices() that might have already set an error? Error 804: forward compatibility was attempted on non "
        "supported HW",
        "DriverTooOld",
        "spec.engineOptions.version",
        "github.com/vllm-project/vllm/issues/4940",
    ),
    Line(
        LLAMACPP,
        "0.00.047.413 E ggml_cuda_init: failed to initialize CUDA: forward compatibility was attempted "
        "on non supported HW",
        "DriverTooOld",
        "spec.engineOptions.version",
        "github.com/ggml-org/llama.cpp/issues/24418",
    ),
    Line(
        EVERY,
        "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling "
        "NumCudaDevices() that might have already set an error? Error 803: system has unsupported "
        "display driver / cuda "
        "driver combination",
        "DriverMismatch",
        "LD_LIBRARY_PATH",
        "github.com/gpustack/gpustack/issues/4678",
    ),
    Line(
        PYTHON,
        "(EngineCore pid=546) ERROR 08-12 03:12:29 [core.py:1202] RuntimeError: The NVIDIA driver on "
        "your system is too "
        "old (found version 12080). Please update your GPU driver by downloading and installing a new version",
        "DriverTooOld",
        "R580",
        "github.com/guqiong96/Lvllmds4/issues/46",
    ),
    Line(
        VLLM,
        "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version",
        "DriverTooOld",
        "VLLM_ENABLE_CUDA_COMPATIBILITY=1",
        "github.com/nagadomi/nunif/issues/702",
    ),
    Line(
        LLAMACPP,
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.6, please update your "
        "driver to a newer "
        "version, or use an earlier cuda container: unknown",
        "DriverTooOld",
        "R580",
        "github.com/ggml-org/llama.cpp/issues/9665",
    ),
    Line(
        EVERY,
        "RuntimeError: Unexpected error from cudaGetDeviceCount() ... Error 802: system not yet initialized",
        "GpuNotUsable",
        "Fabric Manager",
        "github.com/huggingface/huggingface_hub/issues/4134",
    ),
    Line(
        EVERY,
        "ERROR 07-28 15:07:22 [core.py:632] RuntimeError: CUDA error: no kernel image is available for "
        "execution on the "
        "device",
        "GpuNotSupported",
        "spec.gpu.type",
        "github.com/vllm-project/vllm/issues/14452",
    ),
    Line(
        EVERY,
        "RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
        "GpuBusy",
        "compute mode",
        "github.com/ggml-org/llama.cpp/issues/11841",
    ),
    Line(
        EVERY,
        "Unable to open /dev/kfd read-write: Permission denied",
        "GpuNotUsable",
        "spec.pod.securityContext.supplementalGroups",
        "github.com/ROCm/ROCm-docker/issues/116",
    ),
    Line(
        PYTHON,
        "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nLast error:\n"
        "Duplicate GPU detected : rank 1 and "
        "rank 0 both on CUDA device 10",
        "CollectiveFailed",
        "spec.gpu.count: 1",
        "github.com/verl-project/verl/issues/161",
    ),
    Line(
        PYTHON,
        "RuntimeError: CUDART error: peer access is not supported between these two devices",
        "CollectiveFailed",
        "NCCL_P2P_DISABLE=1",
        "github.com/sgl-project/sglang/issues/4814",
    ),
    Line(
        PYTHON,
        "[rank0]:[E ProcessGroupNCCL.cpp:563] [Rank 0] Watchdog caught collective operation timeout: "
        "WorkNCCL(SeqNum=1, "
        "OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600086 milliseconds before timing out.",
        "CollectiveFailed",
        "NCCL_P2P_DISABLE=1",
        "github.com/vllm-project/vllm/issues/5458",
    ),
    Line(
        PYTHON,
        "torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to "
        "(172.17.0.9, 46229).",
        "CollectiveFailed",
        "IOMMU",
        "github.com/vllm-project/vllm/issues/19670",
    ),
    Line(
        PYTHON,
        "[rank0]: RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        "CollectiveFailed",
        "NCCL_DEBUG=INFO",
        "github.com/vllm-project/vllm/issues/6732",
    ),
    Line(
        EVERY,
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "EngineCrashed",
        "spec.engineOptions.version",
        "CUDA runtime, cudaErrorIllegalAddress",
    ),
    Line(
        PYTHON,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "OutOfMemory",
        "spec.maxNumSeqs",
        "PyTorch 2.9, c10/cuda/CUDACachingAllocator.cpp",
    ),
    Line(
        VLLM,
        "RuntimeError: Failed to infer device type, please set the environment variable `VLLM_LOGGING_LEVEL=DEBUG`",
        "GpuNotUsable",
        "spec.pod.securityContext.supplementalGroups",
        "vLLM 0.33.0, config/device.py",
    ),
    Line(
        PYTHON,
        "RuntimeError: No CUDA GPUs are available",
        "GpuNotUsable",
        "spec.pod.runtimeClassName",
        "PyTorch 2.9, c10/cuda/CUDAFunctions.cpp",
    ),
    Line(
        LLAMACPP,
        "ggml_cuda_init: failed to initialize CUDA: no CUDA-capable device is detected",
        "GpuNotUsable",
        "spec.pod.runtimeClassName",
        "llama.cpp b11312, ggml/src/ggml-cuda/ggml-cuda.cu",
    ),
)

HUB_LINES = (
    Line(
        PYTHON,
        "huggingface_hub.errors.GatedRepoError: 403 Client Error.",
        "ModelAccessDenied",
        "licence",
        "huggingface_hub 2.4, utils/_http.py",
    ),
    Line(
        PYTHON,
        "HfHubHTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/DeepBeepMeep/Wan2.1/resolve/main/"
        "pose/dw-ll_ucoco_384.onnx\n\nInvalid credentials in Authorization header",
        "ModelAccessDenied",
        "new token",
        "github.com/deepbeepmeep/Wan2GP/issues/455",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.RevisionNotFoundError: 404 Client Error.",
        "ModelNotFound",
        "spec.model.revision",
        "huggingface_hub 2.4, utils/_http.py",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.RepositoryNotFoundError: 401 Client Error.",
        "ModelNotFound",
        "spec.model.uri",
        "huggingface_hub 2.4, utils/_http.py",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.HFValidationError: Repo id must be in the form",
        "ModelNotFound",
        "spec.model.uri",
        "huggingface_hub 2.4, utils/_validators.py",
    ),
    Line(
        PYTHON,
        "403 Forbidden: Please enable access to public gated repositories in your fine-grained token settings",
        "ModelAccessDenied",
        "spec.model.tokenSecretRef",
        "huggingface_hub 2.4, utils/_http.py",
    ),
    Line(
        PYTHON,
        "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for URL: https://huggingface.co/meta-llama/"
        "Meta-Llama-3-8B/resolve/main/config.json",
        "HubThrottled",
        "spec.model.tokenSecretRef",
        "github.com/huggingface/transformers/issues/34841",
    ),
    Line(
        PYTHON,
        "429 Too Many Requests: you have reached your 'resolvers' rate limit.",
        "HubThrottled",
        "pvc://",
        "huggingface_hub 2.4, utils/_http.py",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.HfHubHTTPError: Server error '503 Service Unavailable' for url "
        "'https://huggingface.co/a'",
        "HubUnreachable",
        "status.huggingface.co",
        "httpx 0.28, _models.py (raise_for_status)",
    ),
    Line(
        PYTHON,
        "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='huggingface.co', port=443): Max "
        "retries exceeded with "
        "url: /meta-llama/Llama-3.2-1B-Instruct/resolve/main/config.json (Caused by "
        "SSLError(SSLCertVerificationError(1, "
        "'[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate')))",
        "HubUnreachable",
        "SSL_CERT_FILE",
        "github.com/vllm-project/vllm/issues/12673",
    ),
    Line(
        PYTHON,
        "ProxyError('Unable to connect to proxy', OSError('Tunnel connection failed: 403 Forbidden'))",
        "HubUnreachable",
        "NO_PROXY",
        "urllib3 2, connection.py; http/client.py of Python 3.12",
    ),
    Line(
        PYTHON,
        "(Caused by NameResolutionError(\"HTTPSConnection(host='huggingface.co', port=443): Failed to resolve "
        "'huggingface.co' ([Errno -3] Temporary failure in name resolution)\"))",
        "HubUnreachable",
        "DNS",
        "github.com/agent0ai/agent-zero/issues/1531",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk "
        "cache and outgoing "
        "traffic has been disabled.",
        "ModelNotFound",
        "HF_HUB_OFFLINE",
        "huggingface_hub 2.4, file_download.py",
    ),
    Line(
        PYTHON,
        "huggingface_hub.errors.FileMetadataError: Distant resource does not have an ETag, we won't be "
        "able to reliably "
        "ensure reproducibility.",
        "HubUnreachable",
        "HF_ENDPOINT",
        "huggingface_hub 2.4, file_download.py",
    ),
    Line(
        PYTHON,
        "(Caused by ConnectTimeoutError(<HTTPSConnection(host='huggingface.co', port=443) at "
        "0xf0ff49d14530>, 'Connection "
        "to huggingface.co timed out. (connect timeout=10)'))",
        "HubUnreachable",
        "HTTPS_PROXY",
        "github.com/Avarok-Cybersecurity/dgx-vllm/issues/16",
    ),
    Line(
        PYTHON,
        "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find "
        "them in the cached "
        "files.",
        "HubUnreachable",
        "NetworkPolicy",
        "transformers 5.23, utils/hub.py",
    ),
    Line(
        VLLM,
        "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
        "ModelAccessDenied",
        "spec.pod.serviceAccountName",
        "botocore 1, exceptions.py",
    ),
)

CHECKPOINT_LINES = (
    Line(
        PYTHON,
        "ValueError: The repository deepseek-ai/x contains custom code which must be executed to "
        "correctly load the model.",
        "UnsupportedField",
        "spec.model.trustRemoteCode",
        "transformers 5.23, dynamic_module_utils.py",
    ),
    Line(
        PYTHON,
        "The checkpoint you are trying to load has model type `qwen9` but Transformers does not recognize this "
        "architecture.",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "transformers 5.23, models/auto/configuration_auto.py",
    ),
    Line(
        PYTHON,
        "safetensors._safetensors_rust.SafetensorError: Error while deserializing header: header too large",
        "CheckpointDamaged",
        "git lfs pull",
        "safetensors 0.8, opening a pointer of Git LFS",
    ),
    Line(
        PYTHON,
        "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer",
        "CheckpointDamaged",
        "volume again",
        "github.com/QwenLM/Qwen3-VL/issues/264",
    ),
    Line(
        PYTHON,
        "Error while deserializing header: incomplete metadata, file not fully covered",
        "CheckpointDamaged",
        "volume again",
        "safetensors 0.8, opening a file that was cut off",
    ),
    Line(
        PYTHON,
        "FileNotFoundError: No such file or directory: /models/chat/model-00002-of-00004.safetensors",
        "CheckpointDamaged",
        "model.safetensors.index.json",
        "safetensors 0.8, opening a file that is not there",
    ),
    Line(
        VLLM,
        "ValueError: There is no module or parameter named 'lm_head.weight_scale' in Qwen3ForCausalLM.",
        "UnsupportedModelSource",
        "config.json",
        "vLLM 0.33.0, model_executor/models/utils.py",
    ),
    Line(
        PYTHON,
        "ValueError: Couldn't instantiate the backend tokenizer from one of: ",
        "TokenizerUnusable",
        "tokenizer.json",
        "transformers 5.23, tokenization_utils_tokenizers.py",
    ),
    Line(
        PYTHON,
        "OSError: /models/chat does not appear to have a file named preprocessor_config.json. Checkout",
        "ModelNotFound",
        "spec.model.uri",
        "transformers 5.23, utils/hub.py",
    ),
    Line(
        PYTHON,
        "ImportError: Using `bitsandbytes` 4-bit quantization requires bitsandbytes: `pip install -U "
        "bitsandbytes>=0.46`",
        "PackageMissing",
        "awq",
        "transformers 5.23, quantizers/quantizer_bnb_4bit.py",
    ),
    Line(
        PYTHON,
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable or set "
        "triton.knobs.build.",
        "CompilationFailed",
        "gcc",
        "github.com/vllm-project/vllm/issues/15329",
    ),
    Line(
        PYTHON,
        "RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
        "CompilationFailed",
        "spec.engineOptions.image",
        "github.com/NVIDIA-NeMo/Gym/pull/1405",
    ),
    Line(
        VLLM,
        "ImportError: ROCm platform requires upstream flash-attn to be installed. Please install flash-attn first.",
        "PackageMissing",
        "spec.engineOptions.image",
        "vLLM 0.33.0, v1/attention/backends/fa_utils.py",
    ),
    Line(
        PYTHON,
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, "
        "Hardware limit: 101376.",
        "GpuNotSupported",
        "spec.gpu.type",
        "triton 3, runtime/errors.py",
    ),
    Line(
        PYTHON,
        "subprocess.CalledProcessError: nonzero exit\nninja: build stopped: subcommand failed.",
        "CompilationFailed",
        "spec.engineOptions.version",
        "github.com/vllm-project/vllm/issues/36077",
    ),
    Line(
        VLLM,
        "torch._inductor.exc.InductorError: nonzero exit\nninja: build stopped: subcommand failed.",
        "CompilationFailed",
        "--enforce-eager",
        "github.com/vllm-project/vllm/issues/36077",
    ),
    Line(
        VLLM,
        "FileNotFoundError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
        "CompilationFailed",
        "VLLM_USE_FLASHINFER_SAMPLER=0",
        "github.com/NVIDIA-NeMo/Gym/pull/1405",
    ),
)


_MISSING = "E gguf_init_from_file: failed to open GGUF file 'none.gguf' (No such file or directory)\n"

_OF_ENGINES = {
    path.parent.name: import_module(f"tests.unit.engines.{path.parent.name}.lines")
    for path in sorted(Path(__file__).parent.glob("*/lines.py"))
}
LINES: tuple[Line, ...] = (
    *SYSTEM_LINES,
    *ACCELERATOR_LINES,
    *HUB_LINES,
    *CHECKPOINT_LINES,
    *(line for module in _OF_ENGINES.values() for line in module.LINES),
)
GOOD_STARTS: dict[str, str] = {name: module.GOOD_START for name, module in _OF_ENGINES.items()}
