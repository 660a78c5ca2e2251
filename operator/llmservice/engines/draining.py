"""preStop hooks: wait in the container until the engine is idle, for engines that abort running requests on SIGTERM."""

from llmservice.engines.engine import PORT

SETTLE_SECONDS = 5
"""Time for every kube-proxy and ingress to learn that the pod is no endpoint any more."""

SETTLE = ("/bin/sh", "-c", f"sleep {SETTLE_SECONDS}")
"""The preStop command of an engine that finishes running requests itself after SIGTERM."""

_WAIT = f"""\
end=$(($(date +%s) + $1))
url=http://127.0.0.1:{PORT}
command -v curl >/dev/null || {{ sleep "$1"; exit 0; }}
ask() {{ curl -s -m 5 --noproxy '*' "$@"; }}
ask -o /dev/null $url/health
if [ $? = 7 ]; then exit 0; fi
sleep {SETTLE_SECONDS}
idle=0
while [ "$(date +%s)" -lt $end ] && [ $idle -lt 2 ]; do
  page=$(ask $url/metrics)
  case $? in 0) ;; 7) exit 0;; *) sleep 1; continue;; esac
  if echo "$page" | grep -E "$2" | grep -qvE ' 0([.]0+)?$'; then idle=0; else idle=$((idle + 1)); fi
  sleep 1
done"""


def wait_until_idle(gauges: str, seconds: int) -> tuple[str, ...]:
    """A preStop command that ends when all gauges are 0, twice in a row, or after so many seconds.

    `gauges` is a regular expression for the lines of /metrics that count requests. A missing gauge counts as 0, a
    timeout as busy; when nothing listens (curl exit code 7) it ends at once. A proxy in the environment is bypassed:
    its answer would count as idle, its refusal as nothing listening.
    """
    return ("/bin/sh", "-c", _WAIT, "drain", str(seconds), gauges)
