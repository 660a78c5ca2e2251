"""Options from a help text, and back from the recorded file."""

from llmservice.catalog.recorded_flags import Option, options_in_help, recorded_options, recording_of

HELP = """\
----- common params -----

-h,    --help, --usage                  print usage and exit
-c,    --ctx-size N                     size of the prompt context (default: 0)
                                        (env: LLAMA_ARG_CTX_SIZE)
-lm,   --load-mode MODE                 model loading mode
                                        - auto: mmap
--fim-qwen-1.5b-default                 use default Qwen 2.5 Coder 1.5B
-kvo,  --kv-offload, -nkvo, --no-kv-offload
                                        whether to enable KV cache offloading (env: LLAMA_ARG_KV_OFFLOAD)
--draft, --draft-n N                    the argument has been removed. use --spec-draft-n-max
"""
OPTIONS = [
    Option(("-h", "--help", "--usage")),
    Option(("-c", "--ctx-size"), "LLAMA_ARG_CTX_SIZE"),
    Option(("-lm", "--load-mode")),
    Option(("--fim-qwen-1.5b-default",)),
    Option(("-kvo", "--kv-offload", "-nkvo", "--no-kv-offload"), "LLAMA_ARG_KV_OFFLOAD"),
]


def test_every_option_is_read_with_its_spellings_and_its_variable() -> None:
    assert list(options_in_help(HELP)) == OPTIONS


def test_a_recording_reads_back_as_it_was() -> None:
    assert list(recorded_options("# a comment\n" + recording_of(iter(OPTIONS)))) == OPTIONS
