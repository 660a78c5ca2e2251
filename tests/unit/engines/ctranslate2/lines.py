"""What it wrote when it exited, and when it did not."""

from tests.unit.engines.line import Line

CTRANSLATE2 = ("ctranslate2",)

LINES = (
    Line(
        CTRANSLATE2,
        "ERROR ctranslate2_server: cannot serve: /models/opus/model.bin is a TransformerSpec: only decoders "
        "(TransformerDecoderSpec) are served, no translation models",
        "UnsupportedModelSource",
        "spec.model.uri",
        "images/ctranslate2/ctranslate2_server/model_files.py",
    ),
    Line(
        CTRANSLATE2,
        "ERROR ctranslate2_server: cannot serve: /models/llama/model.bin is no model of CTranslate2: convert it with "
        "ct2-transformers-converter",
        "UnsupportedModelSource",
        "ct2-transformers-converter",
        "images/ctranslate2/ctranslate2_server/model_files.py",
    ),
    Line(
        CTRANSLATE2,
        "ERROR ctranslate2_server: cannot serve: /models/a/tokenizer.json is missing: convert with --copy_files",
        "TokenizerUnusable",
        "tokenizer.json",
        "images/ctranslate2/ctranslate2_server/model_files.py",
    ),
    Line(
        CTRANSLATE2,
        "ERROR ctranslate2_server: cannot serve: /models/tiny cannot be loaded: Requested float16 compute type, but "
        "the target device or backend do not support efficient float16 computation.",
        "UnsupportedByDevice",
        "spec.dtype",
        "CTranslate2 4.8.5 on a CPU",
    ),
    Line(
        CTRANSLATE2,
        "ERROR ctranslate2_server: cannot serve: /models/nothing is no folder",
        "ModelNotFound",
        "spec.model.uri",
        "images/ctranslate2/ctranslate2_server/weights.py",
    ),
    Line(
        CTRANSLATE2,
        "ctranslate2-server: error: argument --max-queued: invalid whole number value: 'x'",
        "EngineArgumentRejected",
        "spec.engineOptions.args",
        "images/ctranslate2/ctranslate2_server/options.py, by argparse",
    ),
)

GOOD_START = (
    "INFO uvicorn.error: Started server process [1]\n"
    "INFO uvicorn.error: Waiting for application startup.\n"
    "INFO ctranslate2_server: model files in /models/tiny after 0.0 s\n"
    "INFO ctranslate2_server: loaded in 0.2 s on cpu x 1 as float32 with 2 workers\n"
    "INFO ctranslate2_server: ready: chat, context 32768 tokens\n"
)
"""A start that worked: no line of it is a cause."""
