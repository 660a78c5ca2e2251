"""Load on a live service and what it measured: `llmservice bench`, without its I/O.

Belongs here: loads as schedules, the load generator's settings and records, figures, tables, pictures, profiles. Does
not: processes, connections, files of the user (cli).
"""
