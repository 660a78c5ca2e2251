"""The page of what runs, where and why: `llmservice ui` for one, `llmservice serve-ui` for the users of a cluster.

The first is served on loopback with the rights of a kubeconfig; the second shows each caller what their token may see.

Belongs here: what the page shows, as plain values, and the server that hands it out. Does not: how a service is
described; the command passes in the function that `status` uses, so that both say the same.
"""
