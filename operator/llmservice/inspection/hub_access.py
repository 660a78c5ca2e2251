"""How to reach a hub, by the variables of huggingface_hub and of every HTTP client.

`HF_ENDPOINT`, `HF_TOKEN` or the token's file; `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`; `SSL_CERT_FILE`,
which OpenSSL reads itself, and `REQUESTS_CA_BUNDLE`.
"""

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.request import getproxies_environment, proxy_bypass

from yarl import URL

from llmservice.inspection.model_files import InspectionFailed
from llmservice.models.inspection_failure import FailureReason

_USUAL_ENDPOINT = "https://huggingface.co"
_LONGEST_TOKEN = 4096
_CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAccess:
    """Where the hub is, who asks, and how. The token is sent to the origin of `endpoint` and to no other."""

    endpoint: URL
    token: str
    tls: ssl.SSLContext
    proxies: Mapping[str, str]

    def headers_for(self, url: URL) -> dict[str, str]:
        """The token, for the hub itself; nothing for wherever it sends us."""
        return (
            {"Authorization": f"Bearer {self.token}"} if self.token and url.origin() == self.endpoint.origin() else {}
        )

    def proxy_for(self, url: URL) -> str | None:
        """The proxy to ask; None where the way is direct. Raises InspectionFailed for one of another protocol."""
        found = self.proxies.get(url.scheme) or self.proxies.get("all")
        if not found or not url.host or proxy_bypass(f"{url.host}:{url.port}", dict(self.proxies)):
            return None
        proxy = _url(found if "://" in found else f"http://{found}")
        if proxy is None:
            raise InspectionFailed(FailureReason.NO_ROUTE, f"the proxy for {url.scheme} is no address of HTTP")
        return str(proxy)


def hub_access() -> HubAccess:
    """As this process's environment says; raises InspectionFailed for an address or a file that cannot be used."""
    return HubAccess(
        endpoint=_endpoint(os.environ.get("HF_ENDPOINT", "") or _USUAL_ENDPOINT),
        token=_token(os.environ),
        tls=_tls(os.environ),
        proxies=getproxies_environment(),
    )


def _endpoint(text: str) -> URL:
    url = _url(text.rstrip("/"))
    if url is None:
        raise InspectionFailed(FailureReason.NO_ROUTE, "HF_ENDPOINT is not an address that begins with https://")
    if url.user or url.password:
        raise InspectionFailed(FailureReason.NO_ROUTE, "HF_ENDPOINT holds a user or password: use HF_TOKEN")
    return url


def _url(text: str) -> URL | None:
    """None where it is no address of HTTP."""
    try:
        url = URL(text)
    except ValueError:
        return None
    return url if url.scheme in {"http", "https"} and url.host else None


def _token(environment: Mapping[str, str]) -> str:
    named = environment.get("HF_TOKEN") or environment.get("HUGGING_FACE_HUB_TOKEN") or _token_in_file(environment)
    token = named.strip()
    if not (token.isascii() and token.isprintable() and " " not in token and len(token) <= _LONGEST_TOKEN):
        raise InspectionFailed(FailureReason.TOKEN_REFUSED, "the token has letters that no token has")
    return token


def _token_in_file(environment: Mapping[str, str]) -> str:
    home = environment.get("HF_HOME") or "~/.cache/huggingface"
    path = Path(environment.get("HF_TOKEN_PATH") or f"{home}/token")
    try:
        with path.expanduser().open(encoding="utf-8") as file:
            return file.read(_LONGEST_TOKEN + 1)
    except (OSError, ValueError, RuntimeError):  # RuntimeError: there is no home
        return ""


def _tls(environment: Mapping[str, str]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for variable in _CA_VARIABLES:
        if path := environment.get(variable):
            try:
                context.load_verify_locations(**{"capath" if Path(path).is_dir() else "cafile": path})
            except OSError as error:  # ssl.SSLError too
                message = f"{variable} names {path}, which cannot be used: {error.strerror or error}"
                raise InspectionFailed(FailureReason.NO_ROUTE, message) from error
    return context
