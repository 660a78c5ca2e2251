"""The operator's metrics: instruments, and series that are computed at each scrape."""
