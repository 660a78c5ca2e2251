"""How much is held, and for how long."""

from dataclasses import dataclass

BUFFER_BYTES = 64 * 1024
"""Of a held request's body no more is read; the rest stays with the client."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """`held`: requests in all. `held_each`: those of one service that sets nothing else. `held_bytes`: of all together.

    `wait_seconds`: the longest wait of a request whose service sets nothing else. `grace_seconds`: from SIGTERM until
    the process is killed.
    """

    held: int = 5000
    held_each: int = 500
    held_bytes: int = 256 * 2**20
    wait_seconds: float = 600.0
    grace_seconds: float = 60.0
    accepting_seconds: float = 5.0
    """After SIGTERM new connections are still taken: until nobody's kube-proxy leads here any more."""
    head_seconds: float = 10.0
    """From the first byte of a request's head to its last."""
    idle_seconds: float = 75.0
    """Without a request, until a connection is closed."""
    stalled_seconds: float = 60.0
    """Without a byte moving, of a body to a replica or of an answer to a client, until it is given up."""
    connect_seconds: float = 5.0
    """To a replica."""
