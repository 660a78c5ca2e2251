"""The version of the rendering: a newer operator renders existing workloads as before, so that it restarts nothing."""

RENDER_VERSION = 3
"""Incremented when the same resource and catalogue would render to another pod template.

Code that changes a template checks `facts.render_version` (planning, engines) or `plan.render_version` (rendering) and
keeps the older form beside the new one, for three versions.

2: the startup budget follows the slowest start that was seen, and is longer where the size of a model on a claim is not
known; replicas that leave wait for clients that read slowly.

3: the startup probe outlasts every budget, so that no start is ended for being slow.
"""
