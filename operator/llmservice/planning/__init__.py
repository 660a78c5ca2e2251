"""LLMService → ServicePlan: every decision, no YAML.

Belongs here: choosing image, arguments, device, limits, timeouts, and saying why. Does not: Kubernetes manifests
(rendering), what exists in a cluster (converging).
"""
