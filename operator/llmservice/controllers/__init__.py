"""kopf and the process: event in, key queued; start-up, probes, supervision.

Belongs here: translation between kopf, the clock, signals and our queue. Does not: decisions.
"""
