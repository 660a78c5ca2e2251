"""Looks at a model where it is, in a folder or on a hub: its facts, or why there are none.

Belongs here: files, requests, and which of a model's files are read. Does not: what they say (models).
"""
