"""observe → plan → render → diff → apply → summarize, and the work queue that drives it; no kopf.

Belongs here: the order of steps for one key. Does not: HTTP, kopf, formulas.
"""
