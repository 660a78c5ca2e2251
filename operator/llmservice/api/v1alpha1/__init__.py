"""Version v1alpha1 of the resource: one file per part of the spec.

Belongs here: shapes, bounds, defaults that never change, and rules in both tongues. Does not: computed defaults, names
of engines or accelerators.
"""
