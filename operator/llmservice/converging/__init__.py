"""Desired against observed, as values: what to change, and what to tell the user.

Belongs here: diffs, replica ownership, diagnosis, conditions, status. Does not: calls to a cluster, clocks.
"""
