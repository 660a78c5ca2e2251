"""The process: it listens at once, loads the model beside, and ends gracefully.

On SIGTERM uvicorn accepts no more connections and waits for what runs, up to the time that it is given. So that this
holds while a model is loaded too, loading is done in a thread that does not keep the process alive.
"""

import asyncio
import logging
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette

from ctranslate2_server.app import app_of
from ctranslate2_server.engine import Engine, warm_up
from ctranslate2_server.errors import UnusableModel
from ctranslate2_server.model_files import model_files
from ctranslate2_server.options import Options
from ctranslate2_server.server_state import ServerState
from ctranslate2_server.weights import folder_of

_LOG = logging.getLogger("ctranslate2_server")


class Serving:
    """One server; `failed` is true when the model could not be loaded."""

    def __init__(self, options: Options) -> None:
        self.state = ServerState(options)
        self.failed = False
        app = app_of(self.state, lifespan=self._lifespan)
        self.server = uvicorn.Server(
            uvicorn.Config(
                app,
                host=options.host,
                port=options.port,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=options.shutdown_timeout,
            )
        )

    def run(self) -> int:
        """Serve until told to stop; the exit code."""
        signal.signal(signal.SIGTERM, self._told_to_stop)
        self.server.run()
        return 1 if self.failed else 0

    def _told_to_stop(self, *_: object) -> None:
        """Before uvicorn listens to signals, and after it has stopped, when it raises what it heard once more."""
        if not self.server.should_exit:
            sys.exit(0)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        starting = asyncio.create_task(self._start())
        yield
        starting.cancel()

    async def _start(self) -> None:
        try:
            engine = await _in_thread(self.state.options)
            await warm_up(engine)
        except asyncio.CancelledError:
            raise
        except UnusableModel as error:
            self._give_up(str(error))
        except Exception as error:  # noqa: BLE001  (libraries fail in many ways; each ends the process)
            _LOG.exception("the model could not be loaded")
            self._give_up(f"{type(error).__name__}: {error}")
        else:
            self.state.loaded = engine
            _LOG.info("ready: %s, context %s tokens", ", ".join(self.state.names), engine.context or "without limit")

    def _give_up(self, why: str) -> None:
        _LOG.error("cannot serve: %s", why)
        self.failed = True
        self.server.should_exit = True


def loaded(options: Options) -> Engine:
    """The model, with a line in the log for each part; raises UnusableModel."""
    began = time.monotonic()
    folder = folder_of(options)
    _LOG.info("model files in %s after %.1f s", folder, time.monotonic() - began)
    files, began = model_files(folder), time.monotonic()
    engine = Engine(files, options)
    _LOG.info("loaded in %.1f s on %s", time.monotonic() - began, engine.described)
    return engine


async def _in_thread(options: Options) -> Engine:
    """Load it in a thread that ends with the process, however far it is."""
    loop, done = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()

    def load() -> None:
        try:
            result: Engine | BaseException = loaded(options)
        except BaseException as error:  # noqa: BLE001  (told to the loop)
            result = error
        loop.call_soon_threadsafe(settle, result)

    def settle(result: Engine | BaseException) -> None:
        if done.cancelled():
            return
        if isinstance(result, BaseException):
            done.set_exception(result)
        else:
            done.set_result(result)

    threading.Thread(target=load, name="loading", daemon=True).start()
    engine: Engine = await done
    return engine
