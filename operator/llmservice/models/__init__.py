"""Models as values: what is known of one, whoever said so. Pure.

Belongs here: facts and what follows from them by arithmetic alone. Does not: devices and engines (planning); files and
hubs (inspection).
"""
