"""The scale bench: thousands of LLMServices on the real control plane, their pods played by KWOK.

Belongs here: the workload, the stop-watches, the table and the plot. Does not: changes to what is measured; the
operator runs as a process of its own, and `under_test` adds nothing to it but a look at its event loop.
"""
