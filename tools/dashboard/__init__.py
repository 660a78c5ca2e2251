"""The Grafana dashboard, made from a table of panels.

Belongs here: what is asked and how Grafana draws it. Does not: how it is installed; that is manifests/ and the chart.
"""
