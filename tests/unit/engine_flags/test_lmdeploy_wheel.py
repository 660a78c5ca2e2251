from pathlib import Path
from zipfile import ZipFile

import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.lmdeploy_wheel import wheel_choices, wheel_options, wheel_variables

SERVE = """
class SubCliServe:
    def add_parser_api_server():
        parser.add_argument('model_path', type=str)
        parser.add_argument('--server-name', type=str)
        parser.add_argument('--allow-origins', nargs='+', type=str)
        ArgumentHelper.dtype(parser)
        cache_act = ArgumentHelper.session_len(pt_group)
        pt_group._group_actions.append(cache_act)
        ArgumentHelper.add_spec_group(parser)
    def add_parser_proxy():
        parser.add_argument('--routing-strategy', type=str)
"""
UTILS = """
class ArgumentHelper:
    def dtype(parser, default='auto'):
        return parser.add_argument('--dtype', type=str, choices=['auto', 'float16'])
    def session_len(parser):
        return parser.add_argument('--session-len', type=int)
    def ssl(parser):
        return parser.add_argument('--ssl', action='store_true')
    def add_spec_group(parser):
        group = parser.add_argument_group('Speculative')
        group.add_argument('--draft-model', type=str)
        ArgumentHelper.ssl(group)
    def of_another_command(parser):
        return parser.add_argument('--work-dir', type=str)
"""


def a_wheel(folder: Path, serve: str = SERVE) -> Path:
    path = folder / "lmdeploy-1.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("lmdeploy/cli/serve.py", serve)
        archive.writestr("lmdeploy/cli/utils.py", UTILS)
        archive.writestr("lmdeploy/envs.py", "os.getenv('LMDEPLOY_SKIP_WARMUP'), 'TM_LOG_LEVEL', 'LMDEPLOY_'")
        archive.writestr("lmdeploy/_turbomind.so", "LMDEPLOY_OF_A_LIBRARY")
    return path


def test_reads_what_the_server_adds_itself_and_what_it_asks_its_helper_for(tmp_path: Path) -> None:
    assert wheel_options(a_wheel(tmp_path)) == [
        Option(("--allow-origins",), "", Takes.MANY),
        Option(("--draft-model",), "", Takes.ONE),
        Option(("--dtype",), "", Takes.ONE),
        Option(("--server-name",), "", Takes.ONE),
        Option(("--session-len",), "", Takes.ONE),
        Option(("--ssl",), "", Takes.NONE),
        Option(("-h", "--help"), "", Takes.NONE),
    ]


def test_reads_values_and_variables(tmp_path: Path) -> None:
    assert wheel_choices(a_wheel(tmp_path)) == {"--dtype": ["auto", "float16"]}
    assert wheel_variables(a_wheel(tmp_path)) == ["LMDEPLOY_SKIP_WARMUP"]


def test_a_server_without_options_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="lmdeploy"):
        wheel_options(a_wheel(tmp_path, "class SubCliServe:\n    def add_parser_api_server():\n        pass\n"))
