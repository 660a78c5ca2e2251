"""Kubernetes objects as JSON: references, accessors of pods, and the names of the operator's labels.

Belongs here: what reads any object. Does not: plans, decisions, requests.
"""
