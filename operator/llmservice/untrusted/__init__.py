"""What strangers write, before anybody works with it: read in linear time, cut to a size, fit to be shown.

Belongs here: the engine of every pattern that meets such text, and what makes any text safe to keep and to print.
Does not: what a text means, and what in it is a secret.
"""
