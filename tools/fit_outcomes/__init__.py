"""Starts that people reported in public, against what the fit check says of them."""
