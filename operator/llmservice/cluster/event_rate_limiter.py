"""How many Events are written: a resource that flaps, or a thousand of them, must not fill etcd."""

import logging
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.objects.references import Manifest

log = logging.getLogger(__name__)

_ABOUT_ONE = 25
_ABOUT_ONE_EACH_SECONDS = 300.0
"""The figures of client-go's EventCorrelator (tools/record/events_cache.go: defaultSpamBurst, defaultSpamQPS)."""

_IN_A_NAMESPACE = 1000
_IN_A_NAMESPACE_EACH_SECONDS = 0.1
_LOGGED_EACH_SECONDS = 600.0


@dataclass(slots=True)
class EventRateLimiter:
    """Allows 25 Events about an object at once, then one each five minutes; of a namespace 1,000, then ten a second.

    What is dropped stands in the status all the same. `dropped` is called for each; the log tells how many of a
    namespace, every ten minutes at most.
    """

    clock: Callable[[], float] = time.monotonic
    dropped: Callable[[], object] = lambda: None
    _not_logged: Counter[str] = field(default_factory=Counter)
    _object: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=_ABOUT_ONE, seconds=_ABOUT_ONE_EACH_SECONDS)
    )
    _namespace: TokenBuckets[str] = field(
        default_factory=lambda: TokenBuckets(burst=_IN_A_NAMESPACE, seconds=_IN_A_NAMESPACE_EACH_SECONDS)
    )
    _log: TokenBuckets[str] = field(default_factory=lambda: TokenBuckets(burst=1, seconds=_LOGGED_EACH_SECONDS))

    def allows(self, event: Manifest) -> bool:
        """Whether this Event is written; if so, it counts."""
        about = event["involvedObject"]
        namespace, uid, now = about.get("namespace", ""), str(about.get("uid", "")), self.clock()
        if self._object.wait_seconds(uid, now) or self._namespace.wait_seconds(namespace, now):
            self._drop(namespace, now)
            return False
        self._object.spend(uid, now)
        self._namespace.spend(namespace, now)
        return True

    def _drop(self, namespace: str, now: float) -> None:
        self.dropped()
        self._not_logged[namespace] += 1
        if self._log.take(namespace, now):
            count = self._not_logged.pop(namespace)
            log.warning("%s: %d Events not written, there are too many; the statuses say the same", namespace, count)
