"""What is decided about the proxy before an engine."""

from collections.abc import Mapping
from dataclasses import dataclass

from llmservice.catalog.accelerator import Json
from llmservice.engines.engine import HttpProbe


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysPlan:
    """The Secret with the keys of clients; an empty `entry` means that every entry is one."""

    name: str
    entry: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyPlan:
    """The proxy before an engine, in a container that starts before the engine's and stops after it.

    It `measures` for an engine that does not: `running` requests are with the engine at once, `queued` wait, and its
    own metrics are shown; else the engine's are, both numbers are 0 and the engine queues itself. `connections` are
    those of clients. `keys` is None where none are asked for. `probes` are answered by the engine, without a key;
    `/health` means the first. `client_paths` are what clients may ask for, as in `Capabilities`. `stop_seconds` is the
    longest that it goes on after its stop began.
    """

    image: str
    pull_policy: str
    measures: bool
    running: int
    queued: int
    connections: int
    keys: KeysPlan | None
    probes: tuple[HttpProbe, ...]
    security: Json
    resource_requests: Mapping[str, str]
    resource_limits: Mapping[str, str]
    stop_seconds: int
    client_paths: tuple[str, ...] = ()
