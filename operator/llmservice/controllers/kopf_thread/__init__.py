"""kopf in a thread of its own: its watch of LLMServices, and what restarts it."""
