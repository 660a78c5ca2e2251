"""Requests and answers: the connection to the API server, its credentials, and what a failure means."""
