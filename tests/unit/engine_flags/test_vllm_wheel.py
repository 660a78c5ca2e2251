import ast
from pathlib import Path
from zipfile import ZipFile

import pytest

from llmservice.catalog.recorded_flags import Takes
from tools.engine_flags.vllm_values import takes_of_annotation, takes_of_keywords
from tools.engine_flags.vllm_wheel import wheel_choices, wheel_options, wheel_variables

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
    moe_kwargs = model_kwargs["moe_backend"]
    moe_kwargs["type"] = str
    group.add_argument("--moe-backend", **moe_kwargs)
    group.add_argument("--served-model-name", **model_kwargs["served_model_name"])
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
    moe_backend: ModelDType = "auto"
    served_model_name: str | list[str] | None = None
"""
FRONT_END = """
class BaseFrontendArgs:
    chat_template: str | None = None
class FrontendArgs(BaseFrontendArgs):
    port: int = 8000
    middleware: list[str] = []
    def change(kwargs):
        del kwargs["middleware"]["nargs"]
"""


def a_wheel(folder: Path, parser: str = "") -> Path:
    wheel = folder / "vllm-1.whl"
    sources = {
        "engine/arg_utils.py": ARG_UTILS,
        "config/model.py": CONFIG,
        "entrypoints/openai/cli_args.py": FRONT_END,
        "utils/argparse_utils.py": parser,
        "envs.py": """os.getenv("VLLM_PORT"), os.environ['VLLM_LOGGING_LEVEL'], "see VLLM_OTHER" """,
        "_C.abi3.so": "\0VLLM_ALGOLabel\0",
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
        ("--middleware",),
        ("--moe-backend",),
        ("--port",),
        ("--served-model-name",),
        ("--tensor-parallel-size", "-tp"),
        ("--trust-remote-code", "--no-trust-remote-code"),
        ("-h", "--help"),
    ]


def test_newer_parsers_take_the_opposite_word_too(tmp_path: Path) -> None:
    options = wheel_options(a_wheel(tmp_path, parser="class EnableDisableAction: pass"))
    assert ("--enable-caching", "--no-enable-caching", "--disable-caching") in [each.spellings for each in options]


def test_reads_how_many_values_an_option_takes(tmp_path: Path) -> None:
    takes = {option.spellings[0]: option.takes for option in wheel_options(a_wheel(tmp_path))}
    assert {name for name, each in takes.items() if each is Takes.NONE} == {
        "--enable-caching",
        "--headless",
        "--trust-remote-code",
        "-h",
    }
    assert takes["--hf-token"] is Takes.OPTIONAL
    assert (takes["--tensor-parallel-size"], takes["--port"], takes["--moe-backend"]) == (Takes.ONE,) * 3
    assert (takes["--served-model-name"], takes["--middleware"]) == (Takes.MANY, Takes.ONE)


@pytest.mark.parametrize(
    ("annotation", "takes"),
    [
        ("int", Takes.ONE),
        ("Optional[bool]", Takes.NONE),
        ("bool | None", Takes.NONE),
        ("Union[bool, str, None]", Takes.OPTIONAL),
        ("Literal['a', 'b'] | None", Takes.ONE),
        ("Annotated[list[int] | None, Field()]", Takes.MANY),
        ("tuple[int, int]", Takes.TWO),
        ("tuple[int, ...]", Takes.MANY),
        ("tuple[int, int, int]", Takes.UNKNOWN),
        ("set[str]", Takes.MANY),
        ("SomeConfig | None", Takes.ONE),
        ("'list[str]'", Takes.MANY),
        ("SkipValidation[dict[str, Any]]", Takes.ONE),
    ],
)
def test_an_annotation_says_how_many_values_there_are(annotation: str, takes: Takes) -> None:
    assert takes_of_annotation(ast.parse(annotation, mode="eval").body, {"SomeConfig": {}}) == takes


@pytest.mark.parametrize(
    ("written", "takes"),
    [
        ("action='store_true'", Takes.NONE),
        ("action=argparse.BooleanOptionalAction", Takes.NONE),
        ("action='append', nargs='+'", Takes.ONE),
        ("action=SomeAction, nargs='+'", Takes.MANY),
        ("nargs='?'", Takes.OPTIONAL),
        ("nargs='*'", Takes.UNKNOWN),
        ("nargs=2", Takes.TWO),
        ("type=int", Takes.ONE),
    ],
)
def test_keywords_say_how_many_values_there_are(written: str, takes: Takes) -> None:
    call = ast.parse(f"f({written})", mode="eval").body
    assert isinstance(call, ast.Call)
    keywords = {str(each.arg): each.value for each in call.keywords}
    assert takes_of_keywords(keywords, Takes.ONE) == takes


def test_reads_every_variable_that_a_module_names_and_those_of_libraries_that_are_known(tmp_path: Path) -> None:
    wheel = a_wheel(tmp_path)
    assert wheel_variables(wheel, known=[]) == ["VLLM_LOGGING_LEVEL", "VLLM_PORT"]
    assert wheel_variables(wheel, known=["VLLM_ALGO", "VLLM_GONE"]) == ["VLLM_ALGO", "VLLM_LOGGING_LEVEL", "VLLM_PORT"]


def test_reads_the_values_of_number_formats(tmp_path: Path) -> None:
    assert wheel_choices(a_wheel(tmp_path)) == {
        "--dtype": ["auto", "float16"],
        "--kv-cache-dtype": ["auto", "fp8"],
        "--quantization": ["awq", "fp8"],
    }
