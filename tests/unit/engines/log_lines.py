"""Lines as engines really wrote them when they exited, each with its source and the reason that it is to be told as."""

from dataclasses import dataclass

VLLM, TGI, LLAMACPP = ("vllm",), ("tgi",), ("llamacpp",)
PYTHON = (*VLLM, *TGI)
EVERY = (*PYTHON, *LLAMACPP)


@dataclass(frozen=True)
class Line:
    """What these engines wrote. `says` is what the message is to name: a field, a number."""

    engines: tuple[str, ...]
    text: str
    reason: str
    says: str
    source: str


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
        "VLLM_USE_FLASHINFER_SAMPLER=0",
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
        "--enforce-eager",
        "github.com/vllm-project/vllm/issues/36077",
    ),
)

VLLM_LINES = (
    Line(
        VLLM,
        "ValueError: To serve at least one request with the model's max seq len (131072), (16.00 GiB KV "
        "cache is needed, "
        "which is larger than the available KV cache memory (3.50 GiB). Based on the available memory, the estimated "
        "maximum model length is 28672. Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "28672",
        "vLLM 0.33.0, v1/core/kv_cache_planning.py",
    ),
    Line(
        VLLM,
        "ValueError: The model's max seq len (4096) is larger than the maximum number of tokens that can "
        "be stored in KV "
        "cache (3664). Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "3664",
        "github.com/vllm-project/vllm/issues/2418",
    ),
    Line(
        VLLM,
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        "KVCacheTooSmall",
        "spec.gpu.type",
        "vLLM 0.33.0, v1/core/kv_cache_planning.py",
    ),
    Line(
        VLLM,
        "ValueError: Available memory on node 0 (3.10/15.00 GiB) on kv cache allocation is less than "
        "requested memory for "
        "kv (4.00 GiB).",
        "KVCacheTooSmall",
        "VLLM_CPU_KVCACHE_SPACE",
        "vLLM 0.33.0, v1/worker/cpu_worker.py",
    ),
    Line(
        VLLM,
        "RuntimeError: CUDA out of memory occurred when warming up sampler with 1024 dummy requests.",
        "OutOfMemory",
        "spec.maxNumSeqs",
        "vLLM 0.33.0, v1/worker/gpu_model_runner.py",
    ),
    Line(
        VLLM,
        "ValueError: Free memory on device cuda:0 (3.1/22.0 GiB) on startup is less than desired GPU "
        "memory utilization "
        "(0.92, 20.2 GiB).",
        "OutOfMemory",
        "--gpu-memory-utilization",
        "vLLM 0.33.0, v1/worker/utils.py",
    ),
    Line(
        VLLM,
        "  Value error, User-specified max_model_len (8192) is greater than the derived max_model_len "
        "(max_position_embeddings=2048.0 or model_max_length=None in model's config.json). To allow overriding this "
        "maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
        "ContextTooLong",
        " 2048 ",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "  Value error, User-specified max_model_len (8192) is greater than the derived max_model_len "
        "(max_position_embeddings=2048 or model_max_length=4096 in model's config.json). To allow overriding this "
        "maximum, set the env var VLLM_ALLOW_LONG_MAX_MODEL_LEN=1.",
        "ContextTooLong",
        " 4096 ",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (3).",
        "NotDivisible",
        "divisor of 40",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: Quantization method specified in the model config (awq) does not match the quantization",
        "QuantizationMismatch",
        "spec.quantization",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 80. Current "
        "capability: 75.",
        "QuantizationMismatch",
        "spec.gpu.type",
        "vLLM 0.33.0, config/vllm.py",
    ),
    Line(
        VLLM,
        "ValueError: Unknown quantization method: bitsandbytes. Must be one of [",
        "QuantizationMismatch",
        "spec.engineOptions.version",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: torch.bfloat16 is not supported for quantization method gptq. Supported dtypes: [torch.float16]",
        "UnsupportedField",
        "spec.dtype",
        "vLLM 0.33.0, config/vllm.py",
    ),
    Line(
        VLLM,
        "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.",
        "UnsupportedField",
        "spec.dtype: float16",
        "vLLM 0.33.0, platforms/cuda.py",
    ),
    Line(
        VLLM,
        "ValueError: The model type 'gemma3' does not support float16. Reason: Numerical instability.",
        "UnsupportedField",
        "bfloat16",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: No valid attention backend found for cuda with AttentionSelectorConfig(head_size=576). Reasons: {",
        "GpuNotSupported",
        "spec.kvCacheDtype",
        "vLLM 0.33.0, platforms/cuda.py",
    ),
    Line(
        VLLM,
        "ValueError: Model architecture MllamaForConditionalGeneration was supported in vLLM until v0.10.2, and is not "
        "supported anymore.",
        "UnsupportedModelSource",
        "0.10.2",
        "vLLM 0.33.0, model_executor/models/registry.py",
    ),
    Line(
        VLLM,
        "ValueError: Model architectures ['Qwen9ForCausalLM'] are not supported for now. Supported "
        "architectures: dict_keys",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "vLLM 0.33.0, model_executor/models/registry.py",
    ),
    Line(
        VLLM,
        "ValueError: This model does not support `--runner generate`.",
        "UnsupportedModelSource",
        "--runner",
        "vLLM 0.33.0, config/model.py",
    ),
    Line(
        VLLM,
        "ValueError: LoRA rank 64 is greater than max_lora_rank 16.",
        "AdapterRejected",
        "--max-lora-rank=64",
        "vLLM 0.33.0, lora/peft_helper.py",
    ),
    Line(
        VLLM,
        "ValueError: OPTForCausalLM does not support LoRA yet.",
        "AdapterRejected",
        "--lora-modules",
        "vLLM 0.33.0, v1/worker/lora_model_runner_mixin.py",
    ),
    Line(
        VLLM,
        "The supplied chat template string (/etc/chat.jinja) appears path-like, but doesn't exist! "
        "Tried: /etc/chat.jinja",
        "ChatTemplateInvalid",
        "spec.engineOptions.files",
        "vLLM 0.33.0, renderers/chat_utils/chat_template.py",
    ),
    Line(
        VLLM,
        "vllm serve: error: argument --speculative-config/-sc: Value {bad cannot be converted to <function loads at "
        "0x7f0000000000>.",
        "EngineArgumentRejected",
        "double quotes",
        "vLLM 0.33.0, engine/arg_utils.py",
    ),
    Line(
        VLLM,
        "KeyError: 'invalid tool call parser: lama3_json (chose from { deepseek_v3,hermes,llama3_json })'",
        "EngineArgumentRejected",
        "--tool-call-parser",
        "vLLM 0.33.0, entrypoints/common/cli_args.py",
    ),
    Line(
        VLLM,
        "  Value error, max_num_batched_tokens (512) must be greater than or equal to max_num_seqs (1024).",
        "EngineArgumentRejected",
        "spec.maxNumSeqs",
        "vLLM 0.33.0, config/scheduler.py",
    ),
    Line(
        VLLM,
        "vllm serve: error: argument --kv-cache-dtype: invalid choice: 'fp9'",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "vLLM 0.33.0, argparse",
    ),
    Line(
        VLLM,
        "vllm: error: unrecognized arguments: --swap-space",
        "EngineArgumentRejected",
        "spec.engineOptions.version",
        "vLLM 0.33.0, argparse",
    ),
    Line(
        VLLM,
        "Invalid repository ID or local directory specified: '/models/chat'.",
        "ModelNotFound",
        "spec.model.uri",
        "vLLM 0.33.0, transformers_utils/config.py",
    ),
    Line(
        VLLM,
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
        "{'EngineCore_DP0': -9}",
        "OutOfMemory",
        "limits.memory",
        "vLLM 0.33.0, v1/engine/utils.py",
    ),
    Line(
        VLLM,
        "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): "
        "{'EngineCore_DP0': -4}",
        "CpuNotSupported",
        "spec.pod.nodeSelector",
        "vLLM 0.33.0, v1/engine/utils.py",
    ),
    Line(
        VLLM,
        "ERROR Worker proc VllmWorker-1 died unexpectedly (exit code: -7), shutting down executor.",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "vLLM 0.33.0, v1/executor/multiproc_executor.py",
    ),
    Line(
        VLLM,
        "ERROR Worker proc VllmWorker-1 died unexpectedly (exit code: -11), shutting down executor.",
        "EngineCrashed",
        "spec.engineOptions.version",
        "vLLM 0.33.0, v1/executor/multiproc_executor.py",
    ),
)

TGI_LINES = (
    Line(
        TGI,
        "libpython3.11.so.1.0: cannot open shared object file: No such file",
        "ContainerRefused",
        "3.1.0",
        "TGI 3.3.5, its image as another user",
    ),
    Line(
        TGI,
        "Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`",
        "KVCacheTooSmall",
        "spec.maxModelLen",
        "TGI, server/text_generation_server/models/flash_causal_lm.py",
    ),
    Line(
        TGI,
        "Error: Backend(NotEnoughMemory): Not enough memory to handle `max_total_tokens=98304`",
        "KVCacheTooSmall",
        "spec.gpu.count",
        "TGI, backends/v3/src/lib.rs",
    ),
    Line(
        TGI,
        "ValueError: The backend rocm does not support sliding window attention that is used by the "
        "model type mistral. To "
        "use this model nonetheless with the rocm backend, please launch TGI with the argument "
        "`--max-input-tokens` smaller "
        "than sliding_window=4096 (got here max_input_tokens=8191).",
        "ContextTooLong",
        " 4096 ",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "ValueError: `num_heads` must be divisible by `num_shards` (got `num_heads`: 71 and `num_shards`: 2",
        "NotDivisible",
        "divisor of 71",
        "TGI, custom_modeling/flash_rw_modeling.py",
    ),
    Line(
        TGI,
        "NotImplementedError: Sharded GPT-2 requires Flash Attention enabled models.",
        "UnsupportedField",
        "spec.gpu.count: 1",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "ValueError: Unsupported model type qwen3_next",
        "UnsupportedModelSource",
        "TGI",
        "TGI, server/text_generation_server/models/__init__.py",
    ),
    Line(
        TGI,
        "error: unexpected argument '--max-batch' found",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "TGI, clap 4",
    ),
    Line(
        TGI,
        "error: invalid value 'int4' for '--quantize <QUANTIZE>'",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "TGI, clap 4",
    ),
    Line(
        TGI,
        "text_generation_server.utils.hub.EntryNotFoundError: No .safetensors weights found for model a/b",
        "ModelNotFound",
        "spec.model.uri",
        "TGI, server/text_generation_server/utils/hub.py",
    ),
    Line(
        TGI,
        "ERROR text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=0",
        "OutOfMemory",
        "limits.memory",
        "TGI, launcher/src/main.rs",
    ),
    Line(
        TGI,
        "Shard process was signaled to shutdown with signal 4 rank=0 Error: ShardCannotStart",
        "CpuNotSupported",
        "spec.pod.nodeSelector",
        "github.com/huggingface/text-generation-inference/issues/2238",
    ),
    Line(
        TGI,
        "Error: Download process was signaled to shutdown with signal 7",
        "SharedMemoryTooSmall",
        "spec.pod.sharedMemory",
        "github.com/huggingface/text-generation-inference/issues/446",
    ),
    Line(
        TGI,
        "Shard process was signaled to shutdown with signal 11 rank=2",
        "EngineCrashed",
        "spec.engineOptions.version",
        "github.com/huggingface/text-generation-inference/issues/2293",
    ),
)

_MISSING = "E gguf_init_from_file: failed to open GGUF file 'none.gguf' (No such file or directory)\n"

LLAMACPP_LINES = (
    Line(
        LLAMACPP,
        _MISSING + "0.00.008.820 E mtmd_init_from_file: error: Failed to load CLIP model from none.gguf",
        "EngineArgumentRejected",
        "--mmproj",
        "llama.cpp b11312, its program with a projector that is not there",
    ),
    Line(
        LLAMACPP,
        _MISSING + "0.00.010.675 E srv    load_model: failed to load draft model, 'none.gguf'",
        "EngineArgumentRejected",
        "--model-draft",
        "llama.cpp b11312, its program with a draft model that is not there",
    ),
    Line(
        LLAMACPP,
        "E llama_adapter_lora_init_from_file_ptr: failed to apply lora adapter: expect general.type to "
        "be 'adapter', but got: ",
        "AdapterRejected",
        "--lora",
        "llama.cpp b11312, its program with a model as adapter",
    ),
    Line(
        LLAMACPP,
        "0.00.000.844 E common_chat_templates_init: failed to initialize chat template",
        "ChatTemplateInvalid",
        "--chat-template-file",
        "llama.cpp b11312, its program with a broken template",
    ),
    Line(
        LLAMACPP,
        "E llama_init_from_model: failed to initialize: failed to allocate buffer for kv cache",
        "KVCacheTooSmall",
        "spec.kvCacheDtype: q8_0",
        "llama.cpp b11312, src/llama-kv-cache.cpp",
    ),
    Line(
        LLAMACPP,
        "E llama_init_from_model: quantized V cache requires flash_attn to be enabled",
        "UnsupportedField",
        "--flash-attn",
        "llama.cpp b11312, src/llama-context.cpp",
    ),
    Line(
        LLAMACPP,
        "E gguf_init_from_file: failed to open GGUF file 'p-00002-of-00003.gguf' (No such file or directory)\n"
        "E llama_model_load: error loading model: llama_model_loader: failed to load GGUF split from "
        "p-00002-of-00003.gguf",
        "CheckpointDamaged",
        "-00001-of-",
        "llama.cpp b11312, its program with the first of three parts",
    ),
    Line(
        LLAMACPP,
        "E llama_model_load: error loading model: illegal split file idx: 1 (file: "
        "m-00002-of-00003.gguf), model must be "
        "loaded with the first split",
        "ModelNotFound",
        "spec.model.file",
        "llama.cpp b11312, src/llama-model-loader.cpp",
    ),
    Line(
        LLAMACPP,
        "E gguf_init_from_file: failed to open GGUF file '/m/x.gguf' (No such file or directory)",
        "ModelNotFound",
        "spec.model.uri",
        "llama.cpp b11312, its program with a file that is not there",
    ),
    Line(
        LLAMACPP,
        "E gguf_init_from_file: failed to open GGUF file '/m/x.gguf' (Permission denied)",
        "FileNotAccessible",
        "spec.pod.securityContext",
        "llama.cpp b11312, its program with a file of another user",
    ),
    Line(
        LLAMACPP,
        "0.00.004.954 E gguf_init_from_reader: invalid magic characters: 'hell', expected 'GGUF'",
        "ModelNotFound",
        "spec.model.file",
        "llama.cpp b11312, its program with a text",
    ),
    Line(
        LLAMACPP,
        "0.00.003.722 E gguf_init_from_reader: failed to read magic",
        "ModelNotFound",
        "spec.model.file",
        "llama.cpp b11312, its program with an empty file",
    ),
    Line(
        LLAMACPP,
        "0.00.004.158 E llama_model_load: error loading model: tensor 'blk.0.ffn_gate.weight' data is "
        "not within the file "
        "bounds, model is corrupted or incomplete",
        "CheckpointDamaged",
        "volume again",
        "llama.cpp b11312, its program with half a file",
    ),
    Line(
        LLAMACPP,
        "0.00.003.796 E gguf_init_from_reader: failed to read key-value pairs",
        "CheckpointDamaged",
        "volume again",
        "llama.cpp b11312, its program with the first 2 kB of a file",
    ),
    Line(
        LLAMACPP,
        "0.00.003.772 E llama_model_load: error loading model: unknown model architecture: 'zzzzz'",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "llama.cpp b11312, its program with another name in the file",
    ),
    Line(
        LLAMACPP,
        "E gguf_init_from_reader: tensor 'output.weight' has invalid ggml type 99. should be in [0, 42)",
        "QuantizationMismatch",
        "spec.engineOptions.version",
        "llama.cpp b11312, ggml/src/gguf.cpp",
    ),
    Line(
        LLAMACPP,
        "error loading model: error loading model vocabulary: unknown pre-tokenizer type: 'qwen2'",
        "TokenizerUnusable",
        "spec.engineOptions.version",
        "github.com/ollama/ollama/issues/4529",
    ),
    Line(
        LLAMACPP,
        "llama_model_load: error loading model: done_getting_tensors: wrong number of tensors; expected 255, got 254",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "github.com/ggml-org/llama.cpp/issues/10759",
    ),
    Line(
        LLAMACPP,
        "0.00.004.210 E get_repo_commit: error: GET failed (401): no",
        "ModelAccessDenied",
        "spec.model.tokenSecretRef",
        "llama.cpp b11312, its program with a hub that says 401",
    ),
    Line(
        LLAMACPP,
        "0.00.003.785 E get_repo_commit: error: GET failed (404): no",
        "ModelNotFound",
        "spec.model.uri",
        "llama.cpp b11312, its program with a hub that says 404",
    ),
    Line(
        LLAMACPP,
        "get_repo_files: error: GET failed (429): <!DOCTYPE html>",
        "HubThrottled",
        "spec.model.tokenSecretRef",
        "github.com/ggml-org/llama.cpp/issues/21677",
    ),
    Line(
        LLAMACPP,
        "0.00.003.785 E get_repo_commit: error: GET failed (503): down",
        "HubUnreachable",
        "status.huggingface.co",
        "llama.cpp b11312, common/hf-cache.cpp",
    ),
    Line(
        LLAMACPP,
        "0.00.002.027 E get_repo_commit: error: HTTPS is not supported. Please rebuild with one of:",
        "HubUnreachable",
        "pvc://",
        "llama.cpp b11312, a program without OpenSSL",
    ),
    Line(
        LLAMACPP,
        "E get_repo_commit: error: HTTPLIB failed: SSL server verification failed",
        "HubUnreachable",
        "SSL_CERT_FILE",
        "llama.cpp b11312, vendor/cpp-httplib (to_string of Error)",
    ),
    Line(
        LLAMACPP,
        "0.00.002.088 E get_repo_commit: error: HTTPLIB failed: Could not establish connection",
        "HubUnreachable",
        "proxy",
        "llama.cpp b11312, its program with a hub that is not there",
    ),
    Line(
        LLAMACPP,
        "E common_pull_file: error writing to file: /cache/huggingface/hub/blobs/abc.downloadInProgress",
        "DiskFull",
        "requests.ephemeral-storage",
        "llama.cpp b11312, common/download.cpp",
    ),
    Line(
        LLAMACPP,
        "E common_download_get_hf_plan: no GGUF files found in repository a/b",
        "ModelNotFound",
        "spec.quantization",
        "llama.cpp b11312, its program with a repository without such a file",
    ),
    Line(
        LLAMACPP,
        "E common_download_get_hf_plan: file 'y.gguf' not found in repository",
        "ModelNotFound",
        "spec.model.file",
        "llama.cpp b11312, its program with a repository without such a file",
    ),
    Line(
        LLAMACPP,
        "error: invalid argument: --threads=4",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "llama.cpp b11312, its program with such an argument",
    ),
    Line(
        LLAMACPP,
        'error while handling argument "--ctx-size": stoi',
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "llama.cpp b11312, its program with such an argument",
    ),
    Line(
        LLAMACPP,
        "allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory",
        "OutOfMemory",
        "spec.quantization",
        "llama.cpp b11312, ggml/src/ggml-cuda/ggml-cuda.cu",
    ),
)

LINES = (
    *SYSTEM_LINES,
    *ACCELERATOR_LINES,
    *HUB_LINES,
    *CHECKPOINT_LINES,
    *VLLM_LINES,
    *TGI_LINES,
    *LLAMACPP_LINES,
)
