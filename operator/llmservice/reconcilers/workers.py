"""Workers that take keys from the queue and turn our errors into retries."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from llmservice.errors import Conflict, NotYet, OperatorError, Unavailable
from llmservice.reconcilers.work_queue import WorkQueue

log = logging.getLogger(__name__)

ServiceKey = tuple[str, str]
"""Namespace and name of an LLMService."""

Reconcile = Callable[[ServiceKey], Awaitable[float | None]]
"""Works on one key; returns the seconds after which to look again, or None."""


async def work(queue: WorkQueue[ServiceKey], reconcile: Reconcile) -> None:
    """Take keys and reconcile them until cancelled. One failing key never stops a worker."""
    while True:
        key = await queue.take()
        try:
            await _work_on(key, queue, reconcile)
        finally:
            queue.done(key)
        # A pass that finds nothing to do waits for nobody: thousands in a row would keep the Lease from being renewed.
        await asyncio.sleep(0)


async def _work_on(key: ServiceKey, queue: WorkQueue[ServiceKey], reconcile: Reconcile) -> None:
    try:
        again = await reconcile(key)
    except (Conflict, NotYet) as error:
        log.info("%s/%s: looking again: %s", *key, error)
        queue.retry(key)
    except Unavailable as error:
        seconds = queue.retry(key, at_least_seconds=error.retry_after_seconds)
        log.warning("%s/%s: API server: %s; again in %.1f s", *key, error, seconds)
    except OperatorError as error:
        seconds = queue.retry(key, at_least_seconds=5.0)
        log.warning("%s/%s: %s: %s; again in %.1f s", *key, error.reason, error, seconds)
    except asyncio.CancelledError:
        raise
    except Exception:
        # A defect of ours must not stop the other resources; it is logged whole and tried again, ever more slowly.
        log.exception("%s/%s: defect in the operator", *key)
        queue.retry(key, at_least_seconds=5.0)
    else:
        queue.succeeded(key)
        if again is not None:
            queue.add_after(key, again)
