"""Boards for Grafana and the recording rules that they ask, made from tables.

Belongs here: what is asked, how Grafana draws it, and one name for what every engine names differently. Does not: how
they are installed; that is manifests/ and the chart.
"""
