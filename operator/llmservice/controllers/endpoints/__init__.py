"""The operator's own endpoints: probes, metrics and explanations, and who may read them."""
