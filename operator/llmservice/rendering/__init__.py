"""ServicePlan → manifests: one file per kind.

Belongs here: the shape of each child, written as the API server stores it. Does not: decisions (planning), engines, the
cluster.
"""
