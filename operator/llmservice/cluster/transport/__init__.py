"""Requests and responses: the connection to the API server, its credentials, and what a failure means."""
