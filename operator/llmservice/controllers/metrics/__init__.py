"""The metrics of the operator: instruments, and series that are made when they are read."""
