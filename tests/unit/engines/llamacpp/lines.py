"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import LLAMACPP, Line

_MISSING = "E gguf_init_from_file: failed to open GGUF file 'none.gguf' (No such file or directory)\n"

LINES = (
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

GOOD_START = (
    "warning: no usable GPU found, --gpu-layers option will be ignored\n"
    "W get_repo_files: failed to resolve commit for a/b\n"
    "0.00.010.337 I srv  llama_server: model loaded\n"
)
"""A start that worked: no line of it is a cause."""
