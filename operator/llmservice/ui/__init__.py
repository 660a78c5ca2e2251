"""The page that `llmservice ui` serves on loopback: what runs, where and why, with the rights of whoever started it.

Belongs here: what the page shows, as plain values, and the server that hands it out. Does not: how a service is
described; the command passes in the function that `status` uses, so that both say the same.
"""
