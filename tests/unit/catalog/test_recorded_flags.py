"""Options from a help text, and back from the recorded file."""

from llmservice.catalog.recorded_flags import (
    Option,
    Takes,
    options_in_help,
    recorded_options,
    recorded_variables,
    recording_in,
    recording_of,
)

HELP = """\
----- common params -----

-h,    --help, --usage                  print usage and exit
-c,    --ctx-size N                     size of the prompt context (default: 0)
                                        (env: LLAMA_ARG_CTX_SIZE)
--range START END
                                        layers
-ot,   --override-tensor <tensor name pattern>=<buffer type>,...
                                        buffers
-lm,   --load-mode MODE                 model loading mode
                                        - auto: mmap
--fim-qwen-1.5b-default                 use default Qwen 2.5 Coder 1.5B
-kvo,  --kv-offload, -nkvo, --no-kv-offload
                                        whether to enable KV cache offloading (env: LLAMA_ARG_KV_OFFLOAD)
--draft, --draft-n N                    the argument has been removed. use --spec-draft-n-max
"""
OPTIONS = [
    Option(("-h", "--help", "--usage"), "", Takes.NONE),
    Option(("-c", "--ctx-size"), "LLAMA_ARG_CTX_SIZE", Takes.ONE),
    Option(("--range",), "", Takes.TWO),
    Option(("-ot", "--override-tensor"), "", Takes.ONE),
    Option(("-lm", "--load-mode"), "", Takes.ONE),
    Option(("--fim-qwen-1.5b-default",), "", Takes.NONE),
    Option(("-kvo", "--kv-offload", "-nkvo", "--no-kv-offload"), "LLAMA_ARG_KV_OFFLOAD", Takes.NONE),
]


def test_every_option_is_read_with_its_spellings_its_variable_and_what_it_takes() -> None:
    assert list(options_in_help(HELP)) == OPTIONS


def test_a_recording_reads_back_as_it_was() -> None:
    text = "# a comment\n" + recording_of(OPTIONS, ["VLLM_A", "VLLM_B"])
    assert list(recorded_options(text)) == OPTIONS
    assert list(recorded_variables(text)) == ["VLLM_A", "VLLM_B"]


def test_a_line_without_a_number_of_values_says_nothing_about_them() -> None:
    assert list(recorded_options("-c --ctx-size CTX\n--mlock")) == [
        Option(("-c", "--ctx-size"), "CTX"),
        Option(("--mlock",)),
    ]
    assert (Takes.UNKNOWN.least, Takes.UNKNOWN.most) == (0, None)


def test_a_recording_is_read_by_spelling_and_by_variable() -> None:
    recording = recording_in("-c --ctx-size one CTX\nVLLM_A\n")
    assert recording.options["-c"] is recording.options["--ctx-size"]
    assert recording.variables == {"CTX", "VLLM_A"}
