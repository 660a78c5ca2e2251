from pathlib import Path
from zipfile import ZipFile

import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.sglang_wheel import wheel_choices, wheel_options, wheel_variables

FIELDS = """
class Serving:
    host: A[str, "The host."] = "127.0.0.1"
    enable_metrics: A[bool, Arg(help="Metrics."), NS("serving")] = False
    model_path: A[str, Arg(help="The model.", aliases=["--model"])]
    fp8_runner: A[str, Arg(help="x", cli_name="--fp8-backend", choices=["a", "b"])] = "a"
    dtype: A[str, Arg(help="x", choices=["auto", "half"])] = "auto"
    lora_paths: A[Optional[list[str]], Arg(action=LoRAPathAction, action_kwargs={"type": str, "nargs": "*"})] = None
    warmups: A[Optional[List[str]], "Requests at the start."] = None
    buckets: A[Optional[List[str]], Arg(type_parser=json_list_type)] = None
    replicate: A[bool, Arg(action=argparse.BooleanOptionalAction)] = True
    only_inside: A[int, Arg(no_cli=True)] = 0
    loggers: A[Optional[dict], NS("observability")] = None
    level: Annotated[str, "another library's"] = ""
    mode: A[str, Arg(help="x", nargs="?", const="")] = ""
"""
ARGS = """
class ServerArgs:
    def add_cli_args(parser):
        parser.add_argument("--config", type=str)
        parser.add_argument("--old-switch", action=DeprecatedStoreTrueAction, new_flag="--new")
        parser.add_argument("--old-value", action=DeprecatedAliasStoreAction, new_flag="--new")
        parser.add_argument("--old-backend", action=DeprecatedStoreConstAction, nargs=None, choices=["amd"])
        parser.add_argument("--gone", action=DeprecatedAction, error_message="--gone is no longer supported")
        parser.add_argument("--kv-cache-dtype", type=str, choices=["auto", "fp8_e4m3"])
        parser.add_argument("prompt")
"""
CHOICES = 'QUANTIZATION_CHOICES = ["awq", "fp8"]\nLOAD_FORMAT_CHOICES = ["auto"]\n'


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    sources = {
        "srt/server_args.py": ARGS,
        "srt/arg_groups/fields/serving.py": FIELDS,
        "srt/arg_groups/choices.py": CHOICES,
        "srt/environ.py": 'SGLANG_PORT = EnvInt(1)\nos.getenv("SGLANG_LOG_MS") # SGLANG_SOME_\n',
        "lang/api.py": "class Other:\n    prompt_path: A[str, 'of another command'] = ''\n",
        "_C.so": "SGLANG_OF_A_LIBRARY",
    }
    path = tmp_path / "sglang-1.whl"
    with ZipFile(path, "w") as archive:
        for name, text in sources.items():
            archive.writestr(f"sglang/{name}", text)
    return path


def test_reads_fields_and_arguments_as_its_parser_does(wheel: Path) -> None:
    assert wheel_options(wheel) == [
        Option(("--buckets",), "", Takes.ONE),
        Option(("--config",), "", Takes.ONE),
        Option(("--dtype",), "", Takes.ONE),
        Option(("--enable-metrics",), "", Takes.NONE),
        Option(("--fp8-backend",), "", Takes.ONE),
        Option(("--host",), "", Takes.ONE),
        Option(("--kv-cache-dtype",), "", Takes.ONE),
        Option(("--lora-paths",), "", Takes.UNKNOWN),
        Option(("--mode",), "", Takes.OPTIONAL),
        Option(("--model-path", "--model"), "", Takes.ONE),
        Option(("--old-backend",), "", Takes.ONE),
        Option(("--old-switch",), "", Takes.NONE),
        Option(("--old-value",), "", Takes.ONE),
        Option(("--replicate", "--no-replicate"), "", Takes.NONE),
        Option(("--warmups",), "", Takes.MANY),
        Option(("-h", "--help"), "", Takes.NONE),
    ]


def test_reads_variables_that_a_module_names(wheel: Path) -> None:
    assert wheel_variables(wheel) == ["SGLANG_LOG_MS", "SGLANG_PORT"]


def test_reads_the_values_of_number_formats(wheel: Path) -> None:
    assert wheel_choices(wheel) == {
        "--dtype": ["auto", "half"],
        "--kv-cache-dtype": ["auto", "fp8_e4m3"],
        "--load-format": ["auto"],
        "--quantization": ["awq", "fp8"],
    }


def test_another_package_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other-1.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("other/server_args.py", ARGS)
    with pytest.raises(ValueError, match="sglang"):
        wheel_options(path)
