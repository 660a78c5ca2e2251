"""Facts as data: engine versions and images, accelerators. A new GPU is a row, not a branch.

Belongs here: YAML rows, recorded flags, the loader that types them, look-ups by exact name. Does not: decisions.
"""
