"""LMDeploy: what it can do, how it is started, and what its options, metrics and log lines mean."""
