"""Logs of the process: one line per fact, to standard error."""

import logging
import sys


def set_up_logs(level: str) -> None:
    """Log everything from this level on; kopf's line per event only from WARNING on."""
    logging.basicConfig(
        stream=sys.stderr,
        level=level.upper(),
        format="%(asctime)s %(levelname)-7s %(name)s: %(message)s",
        force=True,
    )
    for name in ("kopf.objects", "kopf.activities", "kopf._core", "kopf._cogs", "asyncio", "aiohttp"):
        logging.getLogger(name).setLevel(logging.WARNING)
