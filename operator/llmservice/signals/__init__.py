"""Where numbers come from: one file per source, each turning what an engine exports into a Reading or a reason.

Belongs here: fetching metrics, in bounds, and reading their text. Does not: what an engine calls a metric (`engines`),
what a number means for replicas (`autoscaling`), or which pods a service has (`cluster`).
"""
