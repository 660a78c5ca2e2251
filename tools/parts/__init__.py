"""Runs targets of the Makefile side by side, in stages, and tells how far each is: what `make test` is made of."""
