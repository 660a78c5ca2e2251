"""The page of what runs, where and why: of `llmservice ui` on loopback, with the rights of whoever started it, and of
`llmservice serve-ui` for a cluster's users, each with their own.

Belongs here: what the page shows, as plain values, and the server that hands it out. Does not: how a service is
described; the command passes in the function that `status` uses, so that both say the same.
"""
