"""LLMService → ServicePlan: every decision, no YAML.

Belongs here: choosing image, arguments, device, limits and timeouts, with the reason for each. Does not: Kubernetes
manifests (rendering), what exists in a cluster (converging).
"""
