"""Fairness among tenants: queues that nobody can hold for themselves, and rates that nobody can exceed."""
