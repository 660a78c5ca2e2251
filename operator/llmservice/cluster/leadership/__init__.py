"""Which replica of the operator writes: the Lease, and what holds every write to it."""
