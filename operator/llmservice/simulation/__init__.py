"""Simulated engines and recorded load: what `llmservice replay` and the benchmarks run decisions against.

Belongs here: an engine replica iteration by iteration, a fleet of them, the metrics they would export, traces. Does
not: decisions (autoscaling), nor anything that the operator itself needs to run.
"""
