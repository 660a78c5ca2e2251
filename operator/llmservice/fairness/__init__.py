"""Fairness among tenants: queues, rates and caches that nobody can have for themselves."""
