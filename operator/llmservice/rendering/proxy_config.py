"""The configuration of the proxy before an engine: HAProxy 2.6 to 3.2 (docs.haproxy.org/3.2/configuration.html).

| frontend | for | to |
|---|---|---|
| clients, on the replica's port | clients, and those who read metrics | all backends |
| probes | the kubelet, so that no number of clients keeps it waiting | open |

| backend | what |
|---|---|
| engine | requests of clients, and nothing else, so that its metrics are those of the engine |
| open | probes and metrics, which take no client's place and need no key |
| unauthorized, closed, overloaded | answer themselves, so that they are counted |
"""

import json
from collections.abc import Iterator, Mapping

from llmservice.engines.engine import LOOPBACK, PORT, PROXIED_PORT, HttpProbe
from llmservice.engines.proxied import ENGINE_BACKEND, OVERLOADED_BACKEND, POD_UID_HEADER, QUESTION_PATHS
from llmservice.planning.proxy_plan import ProxyPlan

CONFIG_FOLDER = "/etc/proxy"
CONFIG_FILE = "haproxy.cfg"
KEYS_SCRIPT = "keys.lua"
PROBE_PORT = 8002
POD_UID_VARIABLE = "POD_UID"
ALIVE_PATH = "/alive"
METRICS_PATH = "/metrics"
OWN_METRICS_PATH = "/proxy/metrics"
HEALTH_PATH = "/health"

_PROBE_CONNECTIONS = 64
_SOME_MORE = 100
"""Connections beyond those of clients and probes, which the script that reads the keys and the engine's side need."""

_DEFAULTS = """\
defaults
  mode http
  log global
  # A client in a log line is the entry of the Secret that its key is in. No header, no query and no body is logged.
  log-format "%ci %HM %HPO %ST %ts queued=%Tw first-byte=%Tr total=%Ta client=%[var(txn.client)]"
  option dontlog-normal
  option dontlognull
  # A connection for each request: none is left to a replica that stops, and new replicas get their share.
  option httpclose
  http-reuse never
  option http-no-delay
  # A client that leaves ends its request, in the queue and in the engine.
  option abortonclose
  # A request takes no place in the engine before it is there, as far as it fits a buffer.
  option http-buffer-request
  option disable-h2-upgrade
  timeout http-request 30s
  timeout connect 5s
  retries 3
  # An answer takes as long as it takes; a client that takes nothing of it for this long is gone.
  timeout client 5m
  timeout server 1d
  timeout queue 1d
  timeout tunnel 1d"""

_ERRORS: Mapping[int, tuple[str, str]] = {
    400: ("invalid_request_error", "the request is not valid HTTP, or its headers are too long"),
    408: ("invalid_request_error", "the request did not arrive in time"),
    500: ("server_error", "the proxy before the engine failed"),
    502: ("server_error", "the engine ended before its answer did"),
    503: ("server_error", "the engine does not answer; it may be starting again"),
    504: ("server_error", "the engine did not answer in time"),
}


def proxy_config(plan: ProxyPlan) -> str:
    """The text of the configuration; HAProxy refuses one whose last line does not end."""
    parts = (_global(plan), _defaults(), _clients(plan), _probes(), _backends(plan))
    return "\n".join("".join(f"{line}\n" for line in part) for part in parts)


def _global(plan: ProxyPlan) -> Iterator[str]:
    yield "global"
    yield "  log stdout format raw local0"
    yield "  nbthread 2"
    yield f"  maxconn {plan.connections + _PROBE_CONNECTIONS + _SOME_MORE}"
    yield f"  hard-stop-after {plan.stop_seconds}s"
    if plan.keys is not None:
        yield "  .if version_atleast(3.1)"
        yield "    tune.lua.bool-sample-conversion normal"
        yield "  .endif"
        yield f"  lua-load {CONFIG_FOLDER}/{KEYS_SCRIPT}"


def _defaults() -> Iterator[str]:
    yield _DEFAULTS
    for status, (kind, message) in _ERRORS.items():
        yield f"  http-error status {status} {_json(_error(message, kind))}"


def _clients(plan: ProxyPlan) -> Iterator[str]:
    yield "frontend clients"
    yield f"  bind *:{PORT}"
    yield f"  maxconn {plan.connections}"
    yield "  acl reads method GET HEAD"
    yield f"  acl is_open path {' '.join(dict.fromkeys(_open_paths(plan)))}"
    yield f"  acl own_metrics path {METRICS_PATH if plan.measures else OWN_METRICS_PATH}"
    yield "  http-request set-query scope=backend&scope=server if own_metrics reads"
    yield "  http-request use-service prometheus-exporter if own_metrics reads"
    if plan.keys is not None:
        yield from _keys()
    yield "  use_backend open if is_open reads"
    if plan.keys is not None:
        yield "  use_backend unauthorized unless known"
    if plan.client_paths:
        yield from _closed(plan.client_paths)
    if plan.queued:
        yield f"  use_backend {OVERLOADED_BACKEND} if {{ be_conn({ENGINE_BACKEND}) ge {plan.running + plan.queued} }}"
    yield f"  default_backend {ENGINE_BACKEND}"


def _closed(client_paths: tuple[str, ...]) -> Iterator[str]:
    """What is not for clients. A path is compared as it was written: one that means another is for nobody."""
    beginnings = [path.removesuffix("*") for path in client_paths if path.endswith("/*")]
    whole = [path for path in client_paths if not path.endswith("/*")]
    for how, paths in (("path", whole), ("path_beg", beginnings)):
        if paths:
            yield f"  acl for_clients {how} {' '.join(map(_quoted, paths))}"
    yield "  use_backend closed unless for_clients"


def _keys() -> Iterator[str]:
    """The engine is never shown a key, so it cannot log one; on open paths neither."""
    yield "  acl known var(txn.client) -m found"
    yield "  http-request lua.check_key unless is_open reads"
    yield from _question()
    yield "  http-request del-header authorization"
    yield "  http-request del-header x-api-key"


def _question() -> Iterator[str]:
    """For one token, by which the operator tells whether an engine hangs: three times a minute in all."""
    yield "  stick-table type integer size 1 expire 2m store http_req_rate(1m)"
    yield f"  acl question path {' '.join(QUESTION_PATHS.values())}"
    yield f'  acl names_pod req.fhdr({POD_UID_HEADER}) -m str "${{{POD_UID_VARIABLE}}}"'
    yield "  http-request track-sc0 int(0) if question names_pod"
    yield "  acl asked_rarely sc0_http_req_rate le 3"
    yield "  http-request set-var(txn.client) str(operator) if question names_pod asked_rarely"
    yield f"  http-request del-header {POD_UID_HEADER}"


def _probes() -> Iterator[str]:
    yield "frontend probes"
    yield f"  bind *:{PROBE_PORT}"
    yield f"  maxconn {_PROBE_CONNECTIONS}"
    yield f"  http-request return status 200 if {{ path {ALIVE_PATH} }}"
    yield "  http-request deny deny_status 404 unless { method GET HEAD }"
    yield "  default_backend open"


def _backends(plan: ProxyPlan) -> Iterator[str]:
    engine = f"  server {ENGINE_BACKEND} {LOOPBACK}:{PROXIED_PORT}"
    yield f"backend {ENGINE_BACKEND}"
    yield f"{engine} maxconn {plan.running}" if plan.running else engine
    yield ""
    yield "backend open"
    yield from _checked(plan)
    yield engine
    if plan.keys is not None:
        missing = _error("a key is needed: Authorization: Bearer KEY", "invalid_request_error", "invalid_api_key")
        wrong = _error("the key is not valid", "invalid_request_error", "invalid_api_key")
        challenge = "hdr www-authenticate Bearer"
        yield ""
        yield "backend unauthorized"
        yield f"  http-request return status 401 {challenge} {_json(wrong)} if {{ var(txn.has_key) -m found }}"
        yield f"  http-request return status 401 {challenge} {_json(missing)}"
    if plan.client_paths:
        closed = _error("clients of this service cannot ask for that", "invalid_request_error")
        yield ""
        yield "backend closed"
        yield f"  http-request return status 403 {_json(closed)}"
    if plan.queued:
        full = _error(f"{plan.queued} requests wait already; come again later", "server_error", "overloaded")
        yield ""
        yield f"backend {OVERLOADED_BACKEND}"
        yield f"  http-request return status 503 hdr retry-after 5 {_json(full)}"


def _open_paths(plan: ProxyPlan) -> Iterator[str]:
    yield HEALTH_PATH
    yield from (_quoted(probe.path) for probe in plan.probes if probe.path != HEALTH_PATH)
    if not plan.measures:
        yield METRICS_PATH


def _checked(plan: ProxyPlan) -> Iterator[str]:
    """Answers that lack what they have to contain are failures; the first few KiB of an answer are looked at."""
    first = plan.probes[0]
    paths = [probe.path for probe in plan.probes]
    if HEALTH_PATH not in paths:
        yield f"  http-request set-path {_quoted(first.path)} if {{ path {HEALTH_PATH} }}"
    expecting = {probe.path: probe for probe in plan.probes if probe.expects}
    if expecting:
        yield "  http-request set-var(txn.path) path"
        yield "  http-request del-header accept-encoding"
    for number, probe in enumerate(expecting.values()):
        yield from _expected(number, probe)


def _expected(number: int, probe: HttpProbe) -> Iterator[str]:
    acl = f"expects_{number}"
    unready = _error("the engine is not ready", "server_error")
    yield f"  acl {acl} var(txn.path) -m str {_quoted(probe.path)}"
    yield f"  http-response wait-for-body time {probe.timeout_seconds}s if {acl}"
    yield (
        f"  http-response return status 503 {_json(unready)} "
        f"if {acl} {{ status 200 }} !{{ res.body -m sub {_quoted(probe.expects)} }}"
    )


def _error(message: str, kind: str, code: str | None = None) -> Mapping[str, object]:
    """An error as OpenAI's clients read it."""
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _json(document: Mapping[str, object]) -> str:
    return f"content-type application/json string {_quoted(json.dumps(document, separators=(',', ':')))}"


def _quoted(text: str) -> str:
    """A word that stands for exactly this text: in single quotes nothing has a meaning. One line always."""
    if any(character in text for character in "\r\n\0"):
        raise ValueError(f"{text!r} is no text of one line")
    return "'" + text.replace("'", "'\\''") + "'"
