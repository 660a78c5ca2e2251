"""Transformers' own server: what it can do, how it is started, and what its options and log lines mean."""
