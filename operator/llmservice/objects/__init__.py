"""Kubernetes objects as JSON: how one is named, and what pods say of themselves.

Belongs here: what reads any object, and the names that the operator gives its own. Does not: a plan, a decision, a
request.
"""
