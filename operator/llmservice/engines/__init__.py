"""One folder per engine: options, probes, quantizations, drain, and what its metrics and log lines mean.

Belongs here: what is true of one engine, in its folder; what several share, beside the folders. Does not: Kubernetes
objects, GPUs' node labels, or a comparison with another engine's name.
"""
