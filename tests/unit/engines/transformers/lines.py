"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import Line

TRANSFORMERS = ("transformers",)

LINES = (
    Line(
        TRANSFORMERS,
        "RuntimeError: No requests can be scheduled and no requests can be offloaded.",
        "KVCacheTooSmall",
        "spec.maxModelLen",
        "transformers 5.23.0 on a CPU, asked for more tokens than --cb-num-blocks has room for",
    ),
    Line(
        TRANSFORMERS,
        "MemoryError: Memory footprint 9123456789 is more than available memory 8123456789",
        "KVCacheTooSmall",
        "spec.maxNumSeqs",
        "transformers 5.23.0, generation/continuous_batching/cache.py",
    ),
    Line(
        TRANSFORMERS,
        "AttributeError: module transformers has no attribute ChatGLMModel. Did you mean: 'GLPNModel'?",
        "UnsupportedModelSource",
        "spec.engineOptions.version",
        "transformers 5.23.0, utils/import_utils.py, asked by cli/serving/model_manager.py",
    ),
    Line(
        TRANSFORMERS,
        "Error: No such option: --cb-max-batch",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "click 8.5, without rich",
    ),
    Line(
        TRANSFORMERS,
        "ValueError: Unsupported attention implementation: 'flash'. Must be one of {'eager', 'sdpa'} or a hub kernel",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "transformers 5.23.0, cli/serving/model_manager.py",
    ),
    Line(
        TRANSFORMERS,
        "ImportError: Missing dependencies for serving. Install with `pip install transformers[serving]`",
        "PackageMissing",
        "transformers[serving]",
        "transformers 5.23.0, cli/serve.py",
    ),
)

GOOD_START = (
    "llmservice: torch 2.6.0 on cpu x 1\n"
    "[transformers] Loading chat@main\n"
    "Loading weights: 100%|██████████| 21/21 [00:00<00:00, 27820.72it/s]\n"
    "INFO:     Started server process [1]\n"
    "INFO:     Application startup complete.\n"
    "2026-11-22 17:27:52,271 - ContinuousBatchingLogger - WARNING - Cannot read the size of NUMA node 0, ignoring the "
    "NUMA restrictions.\n"
)
"""A start that worked: no line of it is a cause."""
