"""Whether a model fits a device: memory arithmetic, a verdict, and what to change. Pure.

Belongs here: what engines take beside weights and KV cache, verdicts, remedies, their words. Does not: what a model is
made of (models), what a device is (catalog), what a version of an engine can run.
"""
