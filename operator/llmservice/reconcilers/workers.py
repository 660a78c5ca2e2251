"""Workers: take keys from the queue and turn errors into retries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from llmservice.errors import Conflict, NotYet, OperatorError, Unavailable
from llmservice.reconcilers.work_queue import WorkQueue

log = logging.getLogger(__name__)

ServiceKey = tuple[str, str]
"""Namespace and name of an LLMService."""

Reconcile = Callable[[ServiceKey], Awaitable[float | None]]
"""Reconciles one key; returns the seconds until the next pass, or None."""


async def work(queue: WorkQueue[ServiceKey], reconcile: Reconcile) -> None:
    """Take keys and reconcile them until cancelled. One failing key never stops a worker."""
    while True:
        key = await queue.take()
        try:
            await _work_on(key, queue, reconcile)
        finally:
            queue.done(key)
        # A pass without changes never awaits: thousands in a row would delay the renewal of the Lease.
        await asyncio.sleep(0)


async def _work_on(key: ServiceKey, queue: WorkQueue[ServiceKey], reconcile: Reconcile) -> None:
    try:
        again = await reconcile(key)
    except (Conflict, NotYet) as error:
        log.info("%s/%s: retrying: %s", *key, error)
        queue.retry(key)
    except Unavailable as error:
        seconds = queue.retry(key, at_least_seconds=error.retry_after_seconds)
        log.warning("%s/%s: API server: %s; retrying in %.1f s", *key, error, seconds)
    except OperatorError as error:
        seconds = queue.retry(key, at_least_seconds=5.0)
        log.warning("%s/%s: %s: %s; retrying in %.1f s", *key, error.reason, error, seconds)
    except asyncio.CancelledError:
        raise
    except Exception:
        # A bug must not stop the other resources: it is logged with its traceback and retried with back-off.
        log.exception("%s/%s: defect in the operator", *key)
        queue.retry(key, at_least_seconds=5.0)
    else:
        queue.succeeded(key)
        if again is not None:
            queue.add_after(key, again)
