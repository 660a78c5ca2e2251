from pathlib import Path
from zipfile import ZipFile

from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options

ARG_UTILS = """
def add_cli_args(parser: str) -> None:
    model_kwargs = get_kwargs(ModelConfig)
    group = parser.add_argument_group(title="ModelConfig")
    group.add_argument("--tensor-parallel-size", "-tp", **model_kwargs["size"])
    group.add_argument("--trust-remote-code", **model_kwargs["trust_remote_code"])
    group.add_argument("--enable-caching", **{**model_kwargs["caching"], "default": None})
    group.add_argument("--hf-token", **model_kwargs["hf_token"])
    parser.add_argument("--headless", action="store_true")
    parser.add_argument("model_tag", nargs="?")
"""
CONFIG = """
ModelDType = Literal["auto", "float16"]
CacheDType = Literal["auto", "fp8"]
class Base:
    trust_remote_code: bool = False
class ModelConfig(Base):
    size: int = 1
    caching: bool | None = None
    hf_token: bool | str | None = None
"""
FRONT_END = """
class BaseFrontendArgs:
    chat_template: str | None = None
class FrontendArgs(BaseFrontendArgs):
    port: int = 8000
"""


def a_wheel(folder: Path, parser: str = "") -> Path:
    wheel = folder / "vllm-1.whl"
    sources = {
        "engine/arg_utils.py": ARG_UTILS,
        "config/model.py": CONFIG,
        "entrypoints/openai/cli_args.py": FRONT_END,
        "utils/argparse_utils.py": parser,
        "model_executor/layers/quantization/__init__.py": 'QuantizationMethods = Literal["awq", "fp8"]',
    }
    with ZipFile(wheel, "w") as archive:
        for name, source in sources.items():
            archive.writestr(f"vllm/{name}", source)
    return wheel


def test_reads_options_of_all_three_kinds(tmp_path: Path) -> None:
    options = [option.spellings for option in wheel_options(a_wheel(tmp_path))]
    assert options == [
        ("--chat-template",),
        ("--enable-caching", "--no-enable-caching"),
        ("--headless",),
        ("--hf-token",),
        ("--port",),
        ("--tensor-parallel-size", "-tp"),
        ("--trust-remote-code", "--no-trust-remote-code"),
        ("-h", "--help"),
    ]


def test_newer_parsers_take_the_opposite_word_too(tmp_path: Path) -> None:
    options = wheel_options(a_wheel(tmp_path, parser="class EnableDisableAction: pass"))
    assert ("--enable-caching", "--no-enable-caching", "--disable-caching") in [each.spellings for each in options]


def test_reads_the_values_of_number_formats(tmp_path: Path) -> None:
    assert wheel_choices(a_wheel(tmp_path)) == {
        "--dtype": ["auto", "float16"],
        "--kv-cache-dtype": ["auto", "fp8"],
        "--quantization": ["awq", "fp8"],
    }
