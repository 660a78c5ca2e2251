"""What could be seen while a load ran: replicas, requests in the engines by a scrape of our own, and the status."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.cluster.kube import Body, Kube

EVERY_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Moment:
    """One look: seconds since the beginning, replicas asked for and ready, requests running and waiting, the status."""

    at: float
    asked: int
    ready: int
    running: float
    waiting: float
    status: Body


@dataclass
class Timeline:
    """Looks at a service every two seconds while the `with` block runs. `metrics` are (running, waiting) by name."""

    kube: Kube
    metrics: tuple[str, str]
    name: str = "chat"
    moments: list[Moment] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._look, name="timeline")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def replicas(self) -> list[int]:
        """The replicas asked for, one after the other."""
        asked = [moment.asked for moment in self.moments]
        return [number for number, before in zip(asked, [-1, *asked], strict=False) if number != before]

    @property
    def messages(self) -> list[str]:
        """What `status.autoscaling.message` said, one after the other."""
        said = [moment.status.get("message", "") for moment in self.moments]
        return [text for text, before in zip(said, ["", *said], strict=False) if text and text != before]

    def save(self, path: Path) -> None:
        """Keep it as JSON, for a plot."""
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [{key: value for key, value in asdict(moment).items() if key != "status"} for moment in self.moments]
        path.write_text(json.dumps({"moments": rows, "messages": self.messages}, indent=1))

    def _look(self) -> None:
        began = time.monotonic()
        with ThreadPoolExecutor(8) as pool:
            while not self._stop.wait(EVERY_SECONDS):
                self.moments.append(self._moment(time.monotonic() - began, pool))

    def _moment(self, at: float, pool: ThreadPoolExecutor) -> Moment:
        pods = [pod for pod in self.kube.list("Pod") if _is_ready(pod) and "deletionTimestamp" not in pod["metadata"]]
        pages = list(pool.map(_page, pods))
        running, waiting = (sum(_value(page, metric) for page in pages) for metric in self.metrics)
        deployment = self.kube.get("Deployment", self.name) or {"spec": {}}
        body = self.kube.get("LLMService", self.name) or {}
        return Moment(
            at=round(at, 1),
            asked=deployment["spec"].get("replicas", 1),
            ready=len(pods),
            running=running,
            waiting=waiting,
            status=body.get("status", {}).get("autoscaling") or {},
        )


def table(moments: Sequence[Moment], every: int = 5) -> Iterator[str]:
    """The looks as lines to print."""
    yield f"{'s':>6} {'asked':>5} {'ready':>5} {'running':>7} {'waiting':>7}"
    for moment in moments[::every]:
        yield f"{moment.at:6.0f} {moment.asked:5d} {moment.ready:5d} {moment.running:7.0f} {moment.waiting:7.0f}"


def _page(pod: Body) -> str:
    address = f"http://{pod['status'].get('podIP')}:8000/metrics"
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except (urllib.error.URLError, TimeoutError, ConnectionError):
        return ""


def _value(page: str, metric: str) -> float:
    lines = (line for line in page.splitlines() if line.startswith((f"{metric}{{", f"{metric} ")))
    return sum(float(line.rpartition(" ")[2]) for line in lines)


def _is_ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions") or ()
    return any((item["type"], item["status"]) == ("Ready", "True") for item in conditions)
