"""The certificate of /metrics and /explain: the administrator's, reloaded when it is renewed, or a self-signed one."""

import asyncio
import logging
import os
import ssl
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from llmservice.errors import InvalidSetting

log = logging.getLogger(__name__)

_LOOK_SECONDS = 30.0
_AGAIN_SECONDS = 60.0
_SIGNING_SECONDS = 30.0
_SIGNING_PROGRAM = Path(__file__).with_name("self_signed.py")


@dataclass(slots=True, kw_only=True)
class CertificateFiles:
    """Certificate and key in files, reloaded when one of them changes. Raises `InvalidSetting` for unusable ones."""

    certificate: str
    key: str
    look_seconds: float = _LOOK_SECONDS
    _context: ssl.SSLContext = field(init=False, repr=False)
    _seen: tuple[float, float] = field(init=False)

    def __post_init__(self) -> None:
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        try:
            self._take()
        except OSError as error:  # SSLError is one
            message = f"{self.certificate} and {self.key} are no certificate with its key ({error}): name PEM files"
            raise InvalidSetting("LLMSERVICE_TLS_CERT_FILE", message) from error

    async def context(self) -> ssl.SSLContext:
        """The one context; later handshakes show what was taken last."""
        return self._context

    async def follow(self) -> NoReturn:
        """Look at the files now and then, until cancelled. A pair that does not fit is told, and the last one kept."""
        while True:
            await asyncio.sleep(self.look_seconds)
            try:
                if self._changed_at() != self._seen:
                    self._take()
                    log.info("%s: the new certificate is used", self.certificate)
            except OSError as error:
                log.warning("%s and %s: the last certificate is kept: %s", self.certificate, self.key, error)

    def _take(self) -> None:
        """Tried elsewhere first: half a pair would stay in the context."""
        seen = self._changed_at()
        for context in (ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), self._context):
            # Without a password the library would ask at the terminal.
            context.load_cert_chain(self.certificate, self.key, password="")
        self._seen = seen

    def _changed_at(self) -> tuple[float, float]:
        return Path(self.certificate).stat().st_mtime, Path(self.key).stat().st_mtime


def sign() -> bytes:
    """A fresh key and certificate, made by a short-lived process. Raises `subprocess.SubprocessError`, `OSError`."""
    command = [sys.executable, "-I", str(_SIGNING_PROGRAM)]
    return subprocess.run(command, capture_output=True, check=True, timeout=_SIGNING_SECONDS).stdout  # noqa: S603


@dataclass(slots=True, kw_only=True)
class SelfSigned:
    """A certificate that this start signs itself. Its key is in memory only."""

    sign: Callable[[], bytes] = sign
    again_seconds: float = _AGAIN_SECONDS

    async def context(self) -> ssl.SSLContext:
        """The context, as soon as a certificate is signed."""
        while True:
            try:
                return _context_of(await asyncio.to_thread(self.sign))
            except (OSError, subprocess.SubprocessError) as error:
                log.warning("no certificate for /metrics and /explain, retrying in a minute: %s", error)
                await asyncio.sleep(self.again_seconds)

    async def follow(self) -> NoReturn:
        """Nothing changes."""
        await asyncio.Event().wait()
        raise AssertionError


def _context_of(pem: bytes) -> ssl.SSLContext:
    """The library takes certificates by path only: here that of a file in memory."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    with os.fdopen(os.memfd_create("certificate"), "wb") as file:
        file.write(pem)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    return context
