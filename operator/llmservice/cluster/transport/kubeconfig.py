"""Reads a kubeconfig or a pod's service account.

The work is that of `kubernetes.aio`, which knows tokens, client certificates, basic authentication, OIDC and exec
plugins. A module of its own, loaded when credentials are wanted: importing that library takes a third of a second, and
`llmservice status --help` needs none of it.
"""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kubernetes.aio.client import Configuration
from kubernetes.aio.config import ConfigException, list_kube_config_contexts, load_kube_config
from kubernetes.aio.config.incluster_config import InClusterConfigLoader

Read = Callable[..., Awaitable[str]]

logging.getLogger("kubernetes.aio.config").setLevel(logging.ERROR)  # it warns of what the error here says


def nothing_read() -> Configuration:
    """To be filled by one of the others."""
    return Configuration()


def of_service_account(mounted: Path) -> Read:
    """Reads token and CA of the pod; the kubelet replaces the token's file long before it expires."""

    async def read(configuration: Configuration, *, anew: bool) -> str:  # noqa: ARG001
        loader: Any = InClusterConfigLoader  # the library has no types here
        files = {"token_filename": str(mounted / "token"), "cert_filename": str(mounted / "ca.crt")}
        try:
            loader(**files, try_refresh_token=False).load_and_set(configuration)
        except ConfigException as error:
            raise ValueError(str(error)) from error
        namespace = mounted / "namespace"
        return namespace.read_text("utf-8").strip() if namespace.exists() else ""

    return read


def of_file(path: str, context: str) -> Read:
    """Reads the file; later only the user's part again, where an exec plugin's token lives until it expires."""
    load: Any = load_kube_config  # the library has no types here
    loader: Any = None

    async def read(configuration: Configuration, *, anew: bool) -> str:
        nonlocal loader
        try:
            if anew:
                loader = await load(path, context or None, configuration, persist_config=False)
            else:
                await loader.load_and_set(configuration)
        except ConfigException as error:
            raise ValueError(str(error)) from error
        return str(loader.current_context["context"].get("namespace") or "")

    return read


def context_names(path: str) -> list[str]:
    """The contexts of a file; raises ValueError and what reading a file raises."""
    listed: Any = list_kube_config_contexts  # the library has no types here
    try:
        contexts, _ = listed(path)
    except ConfigException as error:
        raise ValueError(str(error)) from error
    return [str(context["name"]) for context in contexts]
