"""From nothing to an answer: the sandbox, the operator beside it, one LLMService, one chat completion.

Belongs here: what `make demo` and `make demo-down` do. Does not: parts of the sandbox or of the operator.
"""
