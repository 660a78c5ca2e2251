"""The only code that talks to the API server.

Belongs here: reading, watching, applying, deleting, recording events. Does not: decisions. Library exceptions end here.
"""
