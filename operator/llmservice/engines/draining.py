"""preStop hooks: wait in the container until the engine is idle, for engines that abort running requests on SIGTERM."""

from llmservice.engines.engine import PORT, ServingRequest

SETTLE_SECONDS = 5
"""Time for every kube-proxy and ingress to learn that the pod is no endpoint any more."""

SETTLE = ("/bin/sh", "-c", f"sleep {SETTLE_SECONDS}")
"""The preStop command of an engine that finishes running requests itself after SIGTERM."""

_PORT, _HEXADECIMAL = "@port@", "@hexadecimal@"
_UNSENT = f"""\
unsent() {{
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null |
    grep -E ':{_HEXADECIMAL} [0-9A-F]+:[0-9A-F]+ [0-9A-F]+ ' | grep -qvE ':{_HEXADECIMAL} [^ ]+ [^ ]+ 0+:'
}}
"""
"""Whether a connection to the engine, or the proxy before it, holds bytes that its client has not taken: proc(5),
tx_queue."""

_MARK = "@unsent@"
_WAIT = f"""\
end=$(($(date +%s) + $1))
url=http://127.0.0.1:{_PORT}
command -v curl >/dev/null || {{ sleep "$1"; exit 0; }}
ask() {{ curl -s -m 5 --noproxy '*' "$@"; }}
ask -o /dev/null $url/health
if [ $? = 7 ]; then exit 0; fi
sleep {SETTLE_SECONDS}
idle=0
while [ "$(date +%s)" -lt $end ] && [ $idle -lt 2 ]; do
  page=$(ask $url/metrics)
  case $? in 0) ;; 7) exit 0;; *) sleep 1; continue;; esac
  if echo "$page" | grep -E "$2" | grep -qvE ' 0([.]0+)?$'{_MARK}; then idle=0; else idle=$((idle + 1)); fi
  sleep 1
done"""


def wait_until_idle(request: ServingRequest, gauges: str) -> tuple[str, ...]:
    """A preStop command that ends when all gauges are 0, twice in a row, or when the time for the drain is over.

    `gauges` is a regular expression for the lines of /metrics that count requests. A missing gauge counts as 0, a
    timeout as busy; when nothing listens (curl exit code 7) it ends at once. A proxy in the environment is bypassed:
    its answer would count as idle, its refusal as nothing listening. Clients that read slowly are waited for too: a
    request is done for an engine when its last token is made, and the pod's network goes with the engine.
    """
    script = _UNSENT + _WAIT.replace(_MARK, " || unsent") if request.drains_until_sent else _WAIT.replace(_MARK, "")
    script = script.replace(_PORT, str(request.port)).replace(_HEXADECIMAL, _ports(request))
    return ("/bin/sh", "-c", script, "drain", str(SETTLE_SECONDS + request.drain_seconds), gauges)


_CONNECTED = f"""\
connected() {{
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -qE ':{_PORT} [0-9A-F]+:[0-9A-F]+ 01 '
}}
"""
"""Whether the proxy has a connection to the engine: it has one for each request that runs. proc(5), st: established."""

_WAIT_FOR_PROXY = f"""\
end=$(($(date +%s) + $1))
sleep {SETTLE_SECONDS}
idle=0
while [ "$(date +%s)" -lt $end ] && [ $idle -lt 2 ]; do
  if connected || unsent; then idle=0; else idle=$((idle + 1)); fi
  sleep 1
done"""


def wait_for_proxy(request: ServingRequest) -> tuple[str, ...]:
    """A preStop command for an engine behind a proxy that measures for it: ends when no request runs or waits.

    It needs a shell, cat, grep, date and sleep, and no answer of the engine. Where requests wait in the proxy, as many
    run as may; that none runs, twice in a row, says that none waits.
    """
    script = (_CONNECTED + _UNSENT + _WAIT_FOR_PROXY).replace(_HEXADECIMAL, _ports(request))
    script = script.replace(_PORT, f"{request.port:04X}")
    return ("/bin/sh", "-c", script, "drain", str(SETTLE_SECONDS + request.drain_seconds))


def _ports(request: ServingRequest) -> str:
    """The ports of which a client may hold a connection, as proc(5) writes them: the proxy's too."""
    own = f"{request.port:04X}"
    return own if request.port == PORT else f"({own}|{PORT:04X})"
