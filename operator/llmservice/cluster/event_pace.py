"""How many Events are written: a resource that flaps, or a thousand of them, must not fill etcd."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from llmservice.fairness import Pace
from llmservice.objects.references import Manifest

log = logging.getLogger(__name__)

_ABOUT_ONE = 25
_ABOUT_ONE_EACH_SECONDS = 300.0
"""The figures of client-go's EventCorrelator (tools/record/events_cache.go: defaultSpamBurst, defaultSpamQPS)."""

_IN_A_NAMESPACE = 1000
_IN_A_NAMESPACE_EACH_SECONDS = 0.1
_TOLD_EACH_SECONDS = 600.0


@dataclass(slots=True)
class EventPace:
    """Lets pass 25 Events about an object at once, then one each five minutes; of a namespace 1,000, then ten a second.

    What is left out stands in the status all the same. `left_out` counts it by namespace until it is told in the log,
    every ten minutes at most.
    """

    clock: Callable[[], float] = time.monotonic
    left_out: Counter[str] = field(default_factory=Counter)
    _object: Pace[str] = field(default_factory=lambda: Pace(_ABOUT_ONE, _ABOUT_ONE_EACH_SECONDS))
    _namespace: Pace[str] = field(default_factory=lambda: Pace(_IN_A_NAMESPACE, _IN_A_NAMESPACE_EACH_SECONDS))
    _told: Pace[str] = field(default_factory=lambda: Pace(1, _TOLD_EACH_SECONDS))

    def lets(self, event: Manifest) -> bool:
        """Whether this Event is written; if so, it counts."""
        about = event["involvedObject"]
        namespace, uid, now = about.get("namespace", ""), str(about.get("uid", "")), self.clock()
        if self._object.pause(uid, now) or self._namespace.pause(namespace, now):
            self._leave_out(namespace, now)
            return False
        self._object.count(uid, now)
        self._namespace.count(namespace, now)
        return True

    def _leave_out(self, namespace: str, now: float) -> None:
        self.left_out[namespace] += 1
        if not self._told.pause(namespace, now):
            self._told.count(namespace, now)
            count = self.left_out.pop(namespace)
            log.warning("%s: %d Events not written, there are too many; the statuses say the same", namespace, count)
