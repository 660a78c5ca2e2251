"""What users write: the resource as types, and the CRD made from them.

Belongs here: shapes, bounds, rules that need nothing but the resource itself. Does not: anything that needs a
catalogue, an engine or the cluster.
"""
