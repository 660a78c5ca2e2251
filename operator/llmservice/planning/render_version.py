"""Which rendering of a plan a workload was made by, so that a newer operator never restarts what an older one made."""

RENDER_VERSION = 1
"""Rises when the same resource and catalogue would render to another pod template.

Whatever changes a template asks `facts.render_version` (planning, engines) or `plan.render_version` (rendering) and
keeps the older form beside the new one, for three versions.
"""
