import pytest

from llmservice.catalog.recorded_flags import Option, Takes
from tools.engine_flags.llamacpp_source import server_options

SOURCE = """
static std::initializer_list<enum llama_example> media_examples = {
    LLAMA_EXAMPLE_MTMD,
    LLAMA_EXAMPLE_SERVER,
};

    add_opt(common_arg(
        {"-t", "--threads"}, "N",
        "number of threads (\\"N\\")",
        [](common_params & params, int value) {}
    ).set_env("LLAMA_ARG_THREADS"));
%s
    return ctx_arg;
}

    args.push_back(common_arg({"--preset-only"}, "", [](common_params &) {}));
"""
THREADS = Option(("-t", "--threads"), "LLAMA_ARG_THREADS", Takes.ONE)


def options_with(*definitions: str) -> list[Option]:
    return server_options(SOURCE % "\n".join(f"    add_opt(common_arg({definition});" for definition in definitions))


def test_reads_spellings_and_twin() -> None:
    assert options_with() == [THREADS]


def test_a_second_list_holds_negations() -> None:
    option = '{"--ui"},\n {"--no-ui"},\n "the UI", [](common_params &, bool) {}).set_env("LLAMA_ARG_UI")'
    assert options_with(option) == [THREADS, Option(("--ui", "--no-ui"), "LLAMA_ARG_UI", Takes.NONE)]


@pytest.mark.parametrize(
    ("handler", "takes"),
    [
        ("[](common_params &) {}", Takes.NONE),
        ("[](common_params & params, const std::string & value) {}", Takes.ONE),
        ("[](common_params & params, const std::string & a, const std::string & b) {}", Takes.TWO),
        ("nullptr", Takes.UNKNOWN),
    ],
)
def test_the_handler_says_how_many_values_there_are(handler: str, takes: Takes) -> None:
    assert options_with(f'{{"--x"}}, "help", {handler})')[-1].takes == takes


def test_a_comment_may_stand_before_the_spellings() -> None:
    assert options_with('\n // note: "-x" comes later\n {"-d"}, "DEVICE", nullptr)') == [THREADS, Option(("-d",))]


@pytest.mark.parametrize(
    "programs", ["{LLAMA_EXAMPLE_CLI, LLAMA_EXAMPLE_SERVER}", "{LLAMA_EXAMPLE_COMMON}", "media_examples"]
)
def test_an_option_of_the_server_is_read(programs: str) -> None:
    assert options_with(f'{{"--x"}}, "").set_examples({programs})') == [THREADS, Option(("--x",))]


@pytest.mark.parametrize("limit", ["examples({LLAMA_EXAMPLE_CLI})", "excludes({LLAMA_EXAMPLE_SERVER})"])
def test_an_option_of_other_programs_is_left_out(limit: str) -> None:
    assert options_with(f'{{"--x"}}, "").set_{limit}') == [THREADS]


def test_an_option_that_only_says_that_it_is_gone_is_left_out() -> None:
    assert options_with('{"--draft"}, "N", "the argument has been removed. use --x", nullptr)') == [THREADS]


def test_an_option_defined_once_per_program_is_read_once() -> None:
    option = '{"-np"}, "N", "slots", nullptr)'
    assert options_with(option, option) == [THREADS, Option(("-np",))]


def test_another_source_is_refused() -> None:
    with pytest.raises(ValueError, match=r"common/arg\.cpp"):
        server_options("int main() {}")
