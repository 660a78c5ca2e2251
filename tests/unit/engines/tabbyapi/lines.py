"""What it wrote when it exited, and when it did not: lines of its source and of others, since it was not run here."""

from tests.unit.engines.line import Line

TABBYAPI = ("tabbyapi",)

LINES = (
    Line(
        TABBYAPI,
        "RuntimeError: Unable to run ExllamaV3 because an unsupported GPU is \nfound in this configuration. \n"
        "All GPUs must be ampere (30 series) or newer. AMD GPUs are not supported.",
        "GpuNotSupported",
        "8.0",
        "TabbyAPI 0158fb48, backends/exllamav3/model.py",
    ),
    Line(
        TABBYAPI,
        "ValueError: Models quantized with 'exl2' require the exllamav2 backend, which is no longer supported. Please "
        "use an exl3 or unquantized model.",
        "QuantizationMismatch",
        "EXL3",
        "TabbyAPI 0158fb48, common/model.py",
    ),
    Line(
        TABBYAPI,
        "RuntimeError: Insufficient VRAM in split for model and cache",
        "KVCacheTooSmall",
        "spec.kvCacheDtype: q8",
        "github.com/noonghunna/club-3090, notes of its runs of TabbyAPI",
    ),
    Line(
        TABBYAPI,
        "NotImplementedError: Tensor-parallel is not currently implemented for Qwen3NextForCausalLM",
        "NotDivisible",
        "spec.gpu.parallelism.tensor",
        "ExLlamaV3 4f8ad012, model/model.py",
    ),
    Line(
        TABBYAPI,
        "AssertionError: Unknown architecture OPTForCausalLM in /models/opt/config.json",
        "UnsupportedModelSource",
        "spec.engineOptions.image",
        "ExLlamaV3 4f8ad012, model/config.py",
    ),
    Line(
        TABBYAPI,
        "ValueError: Failed to load config.json from /models/none",
        "ModelNotFound",
        "spec.model.uri",
        "TabbyAPI 0158fb48, common/transformers_utils.py",
    ),
    Line(
        TABBYAPI,
        "/cache/x/main.c:5:10: fatal error: Python.h: No such file or directory",
        "CompilationFailed",
        "python3-dev",
        "somebody's notes of this image with a model of linear attention",
    ),
    Line(
        TABBYAPI,
        "RuntimeError: ERROR: TabbyAPI requires exllamav3 1.0.0 or greater. Your current version is 0.0.30. Please "
        "update your dependencies.",
        "PackageMissing",
        "spec.engineOptions.image",
        "TabbyAPI 0158fb48, common/optional_dependencies.py",
    ),
    Line(
        TABBYAPI,
        "main.py: error: unrecognized arguments: --nothing 1",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "argparse of Python 3.12",
    ),
)

GOOD_START = (
    "2026-07-18 10:00:00.000 WARNING:  Disabling authentication makes your instance vulnerable.\n"
    "2026-07-18 10:00:00.000 INFO:     exllamav3 version: 1.0.0\n"
    "2026-07-18 10:00:01.000 INFO:     Using configured max_seq_len: 16384 tokens.\n"
    "2026-07-18 10:00:01.000 INFO:     Using configured cache_size: 65536 tokens.\n"
    "2026-07-18 10:00:20.000 INFO:     Model successfully loaded.\n"
)
"""A start that worked: no line of it is a cause."""
