"""`llmservice serve-ui`: the page for the users of a cluster, each with their own rights."""

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from functools import partial

import click

from llmservice.cli.exit_codes import errors_shown
from llmservice.cli.service_state import state_of
from llmservice.cli.until_told import until_told
from llmservice.cluster.own_namespace import USUAL
from llmservice.cluster.transport.bearer import as_caller, without_credentials
from llmservice.cluster.transport.connection import Connection, connect
from llmservice.cluster.transport.credentials import SERVICE_ACCOUNT
from llmservice.controllers.endpoints.certificates import CertificateFiles, SelfSigned
from llmservice.controllers.endpoints.http_server import Certificate, HttpServer
from llmservice.errors import UsageError
from llmservice.fairness.token_buckets import TokenBuckets
from llmservice.ui.callers import Callers
from llmservice.ui.cluster_page import ClusterPage
from llmservice.ui.reading import Reader

_SECONDS = 20.0
"""Longer than the API server is waited for."""


@click.command(name="serve-ui")
@click.option("--port", type=click.IntRange(0, 65535), default=8443, show_default=True, help="Port of all addresses.")
@click.option("--operator-namespace", default=USUAL, show_default=True, help="Where the operator's Lease is.")
@click.option("--api-server", default="", metavar="URL", help="The API server. Omitted: that of the pod's cluster.")
@click.option(
    "--ca-file",
    default="",
    metavar="FILE",
    help="Authorities that vouch for the API server, PEM.  [default: the file in a pod]",
)
@click.option("--tls-cert-file", default="", metavar="FILE", help="Certificate. Omitted: each start signs one.")
@click.option("--tls-key-file", default="", metavar="FILE", help="Its private key.")
def command(
    port: int, operator_namespace: str, api_server: str, ca_file: str, tls_cert_file: str, tls_key_file: str
) -> None:
    """Serve the page of `llmservice ui` by HTTPS to the users of a cluster, until SIGTERM or Ctrl-C. The chart runs it
    where `ui.enabled` says so.

    It has no rights of its own: each request is answered by what the API server shows to the bearer token that comes
    with it, from the page's own form or from an authenticating proxy before it. It changes nothing.

    \b
    llmservice serve-ui --tls-cert-file tls.crt --tls-key-file tls.key
    llmservice serve-ui --api-server https://10.0.0.1:6443 --ca-file ca.crt --port 9443
    """  # noqa: D205, D301  (the backspace is click's mark: keep these lines as they are)
    with errors_shown():
        if bool(tls_cert_file) != bool(tls_key_file):
            raise UsageError(
                "HalfACertificate", "give both of them, or neither", field="--tls-cert-file, --tls-key-file"
            )
        certificate = CertificateFiles(certificate=tls_cert_file, key=tls_key_file) if tls_cert_file else SelfSigned()
        asyncio.run(_serve(port, operator_namespace, api_server or _in_cluster(), ca_file, certificate))


async def _serve(port: int, operator_namespace: str, server: str, ca_file: str, certificate: Certificate) -> None:
    async with _connected(server, ca_file) as connection:
        reader_of = partial(_reader, connection, operator_namespace)
        page = ClusterPage(callers=Callers(reader_of=reader_of), loop=asyncio.get_running_loop())
        newcomers = TokenBuckets[str](burst=512, seconds=0.01, most_keys=1024)
        async with HttpServer(
            name="ui",
            port=port,
            setting="--port",
            handle=page,
            certificate=certificate,
            seconds=_SECONDS,
            newcomers=newcomers,
        ) as running:
            click.echo(f"https://127.0.0.1:{running.port}/ and on all other addresses, for {server}", err=True)
            await until_told()


def _connected(server: str, ca_file: str) -> AbstractAsyncContextManager[Connection]:
    mounted = SERVICE_ACCOUNT / "ca.crt"
    try:
        return connect(without_credentials(server, ca_file or (str(mounted) if mounted.exists() else "")))
    except OSError as error:
        raise UsageError("NoAuthorities", f"{ca_file or mounted}: {error}", field="--ca-file") from error


def _reader(connection: Connection, operator_namespace: str, token: str, namespace: str) -> Reader:
    return Reader(
        connection=as_caller(connection, token),
        namespace=namespace,
        operator_namespace=operator_namespace,
        state_of=state_of,
        shared=True,
    )


def _in_cluster() -> str:
    """The API server by the variables that every container has. Raises UsageError outside of a cluster."""
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port:
        raise UsageError("NoCluster", "this is no pod: name the API server", field="--api-server")
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
