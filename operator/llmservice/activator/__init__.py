"""The activator: holds the requests of services without a ready replica, and sends them to the first that is ready.

A process of its own, `llmservice activate`. It reads EndpointSlices and nothing else, writes nothing, and wakes nobody:
the operator asks it what it holds (`control.py`).

    slices → ServedPorts (slices.py, table.py) ─ one listener each (listeners.py)
    request → waits in its service's line (waiting.py) → a replica's turn (lines.py) → sent on (sending.py)

Pure: `slices`, `places` (who is held, who gives way), `lines` (whose turn it is), `refusals`, `asleep`, `messages`.
"""
