"""The activator: holds the requests of services without a ready replica, and sends them to the first that is ready.

A process of its own, `llmservice activate`. It reads EndpointSlices and nothing else, writes nothing, and wakes nobody:
the operator asks it what it holds (`control.py`).

    slices (slices.py) ─ table.py ─ a door for each port (listeners.py, doors.py), a desk for each service (desk.py)
    connection (lobby.py) → turned away (reception.py), or let in
    request (connection.py, answering.py) → waits in the hall (hall.py) → its turn → sent on (sending.py)

Pure: `slices`, `places` (who is held, who gives way), `lines` (whose turn it is), `refusals`, `asleep`, `messages`.
"""
