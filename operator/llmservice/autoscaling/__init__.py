"""Snapshot → Decision: how many replicas to run next, and why.

Belongs here: the laws, what they remember, and the words they explain themselves with; time is an argument. Does not:
metric names (engines), scraping (signals), writing replicas (cluster), simulated engines (simulation).
"""
