"""The documentation as a site: what its build adds, its recording of a terminal, its look in a browser.

Belongs here: tools of the site. Does not: its pages, which are `docs/`, and what makes some of them, `tools/reference`.
"""
