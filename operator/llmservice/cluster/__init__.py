"""The only code that talks to the API server.

Belongs here: reading, watching, applying, deleting, recording events; and `in_memory`, the same contract in a dict.
Does not: decisions. Library exceptions end here.
"""
