import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.typer_source import typer_options

SOURCE = """
class Serve:
    def __init__(
        self,
        model: Annotated[str | None, typer.Argument(help="A model.")] = None,
        log_level: Annotated[str, typer.Option(help="Level.")] = "warning",
        use_graph: Annotated[bool | None, typer.Option(help="Graphs.")] = None,
        port: Annotated[int, typer.Option("--port", "-p", help="Port.")] = 8000,
        colour: Annotated[bool, typer.Option("--colour/--plain", help="Colour.")] = True,
        other: int = 3,
    ) -> None: ...
"""


def test_options_are_named_after_parameters_or_as_they_are_told() -> None:
    assert typer_options(SOURCE, "__init__") == [
        Option(("--colour", "--plain"), "", Takes.NONE),
        Option(("--help",), "", Takes.NONE),
        Option(("--log-level",), "", Takes.ONE),
        Option(("--port", "-p"), "", Takes.ONE),
        Option(("--use-graph", "--no-use-graph"), "", Takes.NONE),
    ]


def test_a_source_without_the_function_is_told() -> None:
    with pytest.raises(ValueError, match="serve"):
        typer_options(SOURCE, "serve")
