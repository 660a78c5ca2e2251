"""`python -m llmservice`: the same as the command `llmservice`."""

from llmservice.cli import main

main()
