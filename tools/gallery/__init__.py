"""The gallery of models: manifests/models, chosen and proven by the operator's own planner from one table of rows."""
