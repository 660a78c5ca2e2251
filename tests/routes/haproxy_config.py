"""What the stand-in tells HAProxy: a frontend for each port, a backend for each route."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_DEFAULTS = """\
global
    log stdout format raw local0 info
defaults
    mode http
    log global
    option httplog
    option http-server-close
    timeout connect 5s
    timeout client 1h
    timeout client-fin 30s
    timeout server 1h
    timeout http-request 10s
backend nobody
    http-request return status 404
"""


@dataclass(frozen=True, order=True)
class Way:
    """Requests to `host` (empty: any) below `path` go to `server`, `replaced` instead of the path where it is said."""

    port: int
    certificate: str
    host: str
    path: str
    replaced: str | None
    server: str
    name: str


def configuration(ways: Sequence[Way], ports: Iterable[tuple[int, str]]) -> str:
    """The file. Of two ways that meet, the one with the longer host and path comes first, then the earlier given."""
    ordered = sorted(ways, key=lambda way: (-len(way.host), -len(way.path)))
    return _DEFAULTS + "".join(
        _frontend(port, certificate, [way for way in ordered if way.port == port])
        for port, certificate in sorted(set(ports))
    )


def _frontend(port: int, certificate: str, ways: Sequence[Way]) -> str:
    tls = f" ssl crt {certificate} alpn h2,http/1.1" if certificate else ""
    lines = [f"frontend port-{port}", f"    bind 127.0.0.1:{port}{tls}"]
    uses = [f"    use_backend {_name(way)} if {_condition(way)}" for way in ways]
    backends = [_backend(way) for way in {_name(way): way for way in ways}.values()]
    return "\n".join([*lines, *uses, "    default_backend nobody\n", *backends])


def _condition(way: Way) -> str:
    host = f"{{ req.hdr(host),field(1,:) -i {way.host} }} " if way.host and not way.host.startswith("*.") else ""
    suffix = f"{{ req.hdr(host),field(1,:) -i -m end {way.host[1:]} }} " if way.host.startswith("*.") else ""
    path = way.path.rstrip("/")
    return f"{host}{suffix}" + (f"{{ path {path} }} or {host}{suffix}{{ path_beg {path}/ }}" if path else "TRUE")


def _backend(way: Way) -> str:
    old, new = way.path.rstrip("/"), (way.replaced or "").rstrip("/")
    replace = f"    http-request replace-path {old}(.*) {new}\\1\n" if way.replaced is not None else ""
    return f"backend {_name(way)}\n{replace}    server service {way.server}\n"


def _name(way: Way) -> str:
    return f"{way.name}-{way.port}"
