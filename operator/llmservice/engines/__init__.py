"""One file per engine: flags, probes, quantizations, drain, and what its log lines mean.

Belongs here: everything that is true of one engine and nothing else. Does not: Kubernetes objects, GPUs' node labels,
or a comparison with another engine's name.
"""
