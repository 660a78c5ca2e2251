"""Puts a model on a claim, once and checked: from a hub or a bucket, in the layout in which engines and tools find it.

Belongs here: requests, files, checksums, the claim's lock and its marker. Does not: which files make a model (models).
hf_xet and obstore are imported where they are used, and nowhere else.
"""
