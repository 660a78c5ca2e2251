"""Ollama: what it can do, how it is started, and what its variables and log lines mean."""
