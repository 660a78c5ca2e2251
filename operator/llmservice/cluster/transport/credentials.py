"""Where the API server is and how to convince it: from a kubeconfig, or from the pod's service account.

Reading both is the work of `kubeconfig`. Here: which one is used, and when it is read again.
"""

import asyncio
import contextlib
import importlib
import os
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

from llmservice.errors import Unavailable

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where the kubelet mounts token and CA certificate (kubernetes.io/docs/tasks/run-application/access-api-from-pod)."""

_READ_AGAIN_SECONDS = 60.0
_REJECTED_AGAIN_SECONDS = 5.0


class Configuration(Protocol):
    """What is used of `kubernetes.aio.client.Configuration`, which is not imported before it is needed."""

    host: str
    api_key: Any
    ssl_ca_cert: str | None
    cert_file: str | None
    key_file: str | None
    verify_ssl: bool
    proxy: str | None
    tls_server_name: str | None


class _Read(Protocol):
    """Fills a configuration, and returns the namespace to work in, if one is named.

    `anew` discards everything read before.
    """

    async def __call__(self, configuration: Any, *, anew: bool) -> str: ...


@dataclass(slots=True, kw_only=True)
class Credentials:
    """The address of the API server, the TLS context for it, and the Authorization header of this minute.

    `server` is a base URL without a slash at its end. `tls` is false for plain HTTP; it takes rotated certificates
    when the rest is read again. `namespace` is that of the kubeconfig's context, or the pod's own. Made by
    `load_credentials`.
    """

    server: str
    tls: ssl.SSLContext | bool
    proxy: str | None = None
    server_hostname: str | None = None
    namespace: str = "default"
    configuration: Configuration = field(repr=False)
    read: _Read = field(repr=False)
    clock: Callable[[], float] = time.monotonic
    _read_at: float = field(init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self._read_at = self.clock()

    async def authorization(self) -> str:
        """The Authorization header, read again when it is a minute old; empty with client certificates."""
        if self.clock() - self._read_at >= _READ_AGAIN_SECONDS:
            await self._refresh(_READ_AGAIN_SECONDS, anew=False)
        return self._header()

    async def rejected(self, header: str) -> None:
        """Read everything again because the server answered 401 to this header; the next one may be accepted."""
        if header == self._header():
            await self._refresh(_REJECTED_AGAIN_SECONDS, anew=True)

    def _header(self) -> str:
        return str(self.configuration.api_key.get("BearerToken", "")).strip()

    async def _refresh(self, at_least_seconds: float, *, anew: bool) -> None:
        """Read again unless another task just did. A failed read keeps the current ones: they may still be valid."""
        async with self._lock:
            if self.clock() - self._read_at < at_least_seconds:
                return
            self._read_at = self.clock()
            with contextlib.suppress(*_READ_ERRORS):
                await self.read(self.configuration, anew=anew)
                if isinstance(self.tls, ssl.SSLContext):
                    _take_certificates(self.tls, self.configuration)


async def load_credentials(*, kubeconfig: str = "", context: str = "", mounted: Path = SERVICE_ACCOUNT) -> Credentials:
    """The credentials of `kubeconfig`, else of $KUBECONFIG, else of the pod, else of ~/.kube/config.

    `context` names one of the kubeconfig; empty means its current one. Raises `Unavailable` (`NoCredentials`) when
    there are none or they cannot be read.
    """
    path = kubeconfig or os.environ.get("KUBECONFIG", "")
    in_pod = not path and (mounted / "token").exists()
    reading = _reading()
    read = reading.of_service_account(mounted) if in_pod else reading.of_file(path or _USUAL, context)
    configuration = reading.nothing_read()
    try:
        namespace = await read(configuration, anew=True)
        return Credentials(
            server=configuration.host.rstrip("/"),
            tls=tls_of(configuration),
            proxy=configuration.proxy,
            server_hostname=configuration.tls_server_name,
            namespace=namespace or "default",
            configuration=configuration,
            read=read,
        )
    except _READ_ERRORS as error:
        where = "the service account" if in_pod else path or _USUAL
        raise Unavailable(
            "NoCredentials", f"no credentials in {where}: {error}; set KUBECONFIG, or run in a pod"
        ) from error


def context_names(kubeconfig: str = "") -> list[str]:
    """The names of the contexts of `kubeconfig`, else of the usual one; none where it cannot be read."""
    try:
        found: list[str] = _reading().context_names(kubeconfig or os.environ.get("KUBECONFIG", "") or _USUAL)
    except _READ_ERRORS:
        return []
    return found


def _reading() -> Any:
    return importlib.import_module("llmservice.cluster.transport.kubeconfig")


_USUAL = "~/.kube/config"
_READ_ERRORS = (OSError, ValueError, KeyError, TypeError, AttributeError, yaml.YAMLError)
"""The library names some problems itself; a kubeconfig without user or with a wrong shape shows as the others."""


def tls_of(configuration: Configuration) -> ssl.SSLContext | bool:
    """The context by which the API server is checked; False for plain HTTP."""
    if not configuration.host.startswith("https"):
        return False
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    # Cluster CAs made by EKS and older kubeadm lack an authority key identifier, which strict checking (the default
    # since Python 3.13) wants: github.com/kubernetes-client/python/issues/2394.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    _take_certificates(context, configuration)
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _take_certificates(context: ssl.SSLContext, configuration: Configuration) -> None:
    """Use the certificates of now for new connections; an authority once trusted stays so, as rotations ask."""
    if configuration.ssl_ca_cert:
        context.load_verify_locations(cafile=configuration.ssl_ca_cert)
    if configuration.cert_file:
        context.load_cert_chain(configuration.cert_file, configuration.key_file)
