"""LLMService: a Kubernetes operator that serves large language models.

The layers, from the top: cli and controllers; reconcilers; cluster; converging; rendering; planning; engines; catalog;
api; errors and settings. Everything from `converging` down is pure: values in, values out.
"""

__version__ = "0.1.0"
