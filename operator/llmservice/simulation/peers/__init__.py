"""What users would otherwise run, in the same simulator: KEDA, KubeAI, HPA, WVA, AIBrix, a fixed fleet, hindsight.

Belongs here: other projects' scaling formulas as pure functions of a snapshot, written from their documentation, each
with its source. Does not: what our operator decides with (autoscaling). Readings reach every peer without delay, where
a Prometheus in between would add 15 to 60 s: the simulation is kind to them.
"""
