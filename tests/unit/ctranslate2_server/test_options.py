import pytest

from ctranslate2_server.options import Options, options_from, parser


def test_what_is_left_out_is_as_the_type_says() -> None:
    assert options_from(["/models/x"]) == Options(model="/models/x")


def test_a_model_is_served_under_its_names_or_its_own() -> None:
    assert options_from(["m", "--served-model-name", "a", "b"]).served_names == ("a", "b")
    assert options_from(["m"]).served_names == ("m",)


def test_every_option_is_one_of_the_type() -> None:
    known = set(Options.__dataclass_fields__)

    assert {action.dest for action in parser()._actions} - {"help"} == known


@pytest.mark.parametrize(
    "arguments",
    [[], ["m", "--port", "0"], ["m", "--max-num-seqs", "0"], ["m", "--comp", "int8"], ["m", "--device", "x"]],
)
def test_what_is_wrong_ends_with_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options_from(arguments)

    assert ended.value.code == 2
