import asyncio
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from llmservice.cluster.transport.credentials import Credentials, load_credentials
from llmservice.errors import Unavailable

AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUVi0OB4pwdU7SpNfwzWWMWYSLhKQwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdC1hdXRob3JpdHkwIBcNMjYxMTIxMDk1MjE2WhgPMjEy
NjEwMjgwOTUyMTZaMBkxFzAVBgNVBAMMDnRlc3QtYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEb/YdYwGRUP3VZRfnD8RduJ2BMPsulLUAAPUelaSr
cGT+28maOx+rjAtSKmnd2KwADwE95TlJoN4S4mvshpvBbKNTMFEwHQYDVR0OBBYE
FBeZZeRRtnBDG0dZ8mySeWHGexevMB8GA1UdIwQYMBaAFBeZZeRRtnBDG0dZ8myS
eWHGexevMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAM+DV9XA
8bI+uTde3VWWyXYc5BWW0PbTc+uver0Eoz0OAiEAp4oB+YLVfOCoT4ukZzD+bq/s
e4/InBPyI/3ridOg4Gs=
-----END CERTIFICATE-----
"""
"""A self-signed certificate without meaning, valid for a hundred years."""

NEXT_AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBkzCCATmgAwIBAgIUafDXUWj2DR/pOOLRVe0uUW2ZJyswCgYIKoZIzj0EAwIw
HjEcMBoGA1UEAwwTbmV4dC10ZXN0LWF1dGhvcml0eTAgFw0yNjExMjExMzQzNDZa
GA8yMTI2MTAyODEzNDM0NlowHjEcMBoGA1UEAwwTbmV4dC10ZXN0LWF1dGhvcml0
eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFAMmbhF1IMVknzwzKhQPWI6wvdI
v4zk0mGTF0C/WtkgemNeaUM5EbqWk60T/IJWOXPTt6jfYU+2ljfeTa3vm1WjUzBR
MB0GA1UdDgQWBBTlrFke8tkj1e1o6I5UwB/t0GIamjAfBgNVHSMEGDAWgBTlrFke
8tkj1e1o6I5UwB/t0GIamjAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gA
MEUCIETxv917P8cgevzJckjJk07KywcCjFCwdVozuyzctUWrAiEA6Sp/VBHJ8gBT
93pNsP58SZi8qzNEbno58NRywiT2qbY=
-----END CERTIFICATE-----
"""
"""Another one, for a rotation."""


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home without a kubeconfig, outside of any pod."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path  # type: ignore[return-value]


def a_kubeconfig(folder: Path, user: dict[str, Any] | None, server: str = "http://one:1", **cluster: Any) -> str:
    contexts = [{"name": name, "context": {"cluster": name, "user": "me"}} for name in ("one", "two")]
    clusters = [
        {"name": "one", "cluster": {"server": server, **cluster}},
        {"name": "two", "cluster": {"server": "http://two:2/"}},
    ]
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "contexts": contexts,
        "clusters": clusters,
        "users": [] if user is None else [{"name": "me", "user": user}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return str(path)


async def with_clock(**arguments: Any) -> tuple[Credentials, Clock]:
    clock = Clock()
    credentials = await load_credentials(**arguments)
    credentials.clock = clock
    credentials._read_at = 0.0
    return credentials, clock


async def test_takes_server_and_token_of_the_current_context(folder: Path) -> None:
    credentials = await load_credentials(kubeconfig=a_kubeconfig(folder, {"token": "t"}))

    assert credentials.server == "http://one:1"
    assert credentials.tls is False
    assert await credentials.authorization() == "Bearer t"


async def test_takes_another_context_by_name(folder: Path) -> None:
    credentials = await load_credentials(kubeconfig=a_kubeconfig(folder, {"token": "t"}), context="two")

    assert credentials.server == "http://two:2"


async def test_an_environment_variable_names_the_kubeconfig(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", a_kubeconfig(folder, {"token": "t"}))

    assert (await load_credentials()).server == "http://one:1"


async def test_basic_authentication_is_known(folder: Path) -> None:
    credentials = await load_credentials(kubeconfig=a_kubeconfig(folder, {"username": "u", "password": "p"}))

    assert await credentials.authorization() == "Basic dTpw"


async def test_a_rotated_token_file_is_read_after_a_minute(folder: Path) -> None:
    token = folder / "token"
    token.write_text("old\n")
    credentials, clock = await with_clock(kubeconfig=a_kubeconfig(folder, {"tokenFile": str(token)}))
    token.write_text("new\n")

    clock.seconds = 59.0
    assert await credentials.authorization() == "Bearer old"
    clock.seconds = 60.0
    assert await credentials.authorization() == "Bearer new"


async def test_a_rejected_token_is_read_again_at_once(folder: Path) -> None:
    token = folder / "token"
    token.write_text("old")
    credentials, clock = await with_clock(kubeconfig=a_kubeconfig(folder, {"tokenFile": str(token)}))
    token.write_text("new")
    clock.seconds = 10.0
    await credentials.rejected("Bearer old")

    assert await credentials.authorization() == "Bearer new"


async def test_many_rejections_of_one_token_read_once(folder: Path) -> None:
    counted = folder / "count"
    script = f"import pathlib; p = pathlib.Path({str(counted)!r}); n = len(p.read_text()) if p.exists() else 0; "
    script += 'p.write_text("x" * (n + 1)); print(\'{"apiVersion": "client.authentication.k8s.io/v1", '
    script += '"kind": "ExecCredential", "status": {"token": "t%d"}}\' % n)'
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": sys.executable, "args": ["-c", script]}
    credentials, clock = await with_clock(kubeconfig=a_kubeconfig(folder, {"exec": plugin}))
    clock.seconds = 10.0
    await asyncio.gather(*(credentials.rejected("Bearer t0") for _ in range(3)))

    assert await credentials.authorization() == "Bearer t1"
    assert counted.read_text() == "xx"


async def test_a_rejected_token_that_is_not_ours_any_more_reads_nothing(folder: Path) -> None:
    token = folder / "token"
    token.write_text("current")
    credentials, clock = await with_clock(kubeconfig=a_kubeconfig(folder, {"tokenFile": str(token)}))
    token.write_text("next")
    clock.seconds = 10.0
    await credentials.rejected("Bearer former")

    assert await credentials.authorization() == "Bearer current"


async def test_a_token_that_cannot_be_read_again_stays(folder: Path) -> None:
    token = folder / "token"
    token.write_text("old")
    credentials, clock = await with_clock(kubeconfig=a_kubeconfig(folder, {"tokenFile": str(token)}))
    token.unlink()
    clock.seconds = 60.0

    assert await credentials.authorization() == "Bearer old"


async def test_a_pod_uses_its_service_account(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = a_service_account(folder)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    credentials, clock = await with_clock(mounted=mounted)
    (mounted / "token").write_text("new")
    clock.seconds = 60.0

    assert credentials.server == "https://[fd00::1]:443"
    assert isinstance(credentials.tls, ssl.SSLContext)
    assert await credentials.authorization() == "bearer new"


async def test_a_rotated_authority_is_trusted_after_a_minute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounted = a_service_account(folder)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "one")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    credentials, clock = await with_clock(mounted=mounted)
    (mounted / "ca.crt").write_text(NEXT_AUTHORITY)

    assert authorities(credentials) == {"test-authority"}
    clock.seconds = 60.0
    await credentials.authorization()
    assert authorities(credentials) == {"test-authority", "next-test-authority"}


async def test_an_authority_that_cannot_be_read_again_stays_trusted(folder: Path) -> None:
    authority = folder / "ca.crt"
    authority.write_text(AUTHORITY)
    path = a_kubeconfig(folder, {"token": "t"}, "https://one:1", **{"certificate-authority": str(authority)})
    credentials, clock = await with_clock(kubeconfig=path)
    authority.write_text("half a cert")
    clock.seconds = 60.0

    assert await credentials.authorization() == "Bearer t"
    assert authorities(credentials) == {"test-authority"}


def authorities(credentials: Credentials) -> set[str]:
    """The names of those who may vouch for the API server."""
    assert isinstance(credentials.tls, ssl.SSLContext)
    return {str(found["subject"][-1][-1][-1]) for found in credentials.tls.get_ca_certs()}


def a_service_account(folder: Path) -> Path:
    mounted = folder / "serviceaccount"
    mounted.mkdir()
    (mounted / "token").write_text("old")
    (mounted / "ca.crt").write_text(AUTHORITY)
    return mounted


async def test_tolerates_authorities_without_a_key_identifier_but_checks_names(folder: Path) -> None:
    credentials = await load_credentials(kubeconfig=a_kubeconfig(folder, {"token": "t"}, "https://one:1"))

    assert isinstance(credentials.tls, ssl.SSLContext)
    assert not credentials.tls.verify_flags & ssl.VERIFY_X509_STRICT
    assert credentials.tls.check_hostname


async def test_checks_nothing_when_the_kubeconfig_says_so(folder: Path) -> None:
    path = a_kubeconfig(folder, {"token": "t"}, "https://one:1", **{"insecure-skip-tls-verify": True})
    credentials = await load_credentials(kubeconfig=path)

    assert isinstance(credentials.tls, ssl.SSLContext)
    assert credentials.tls.verify_mode is ssl.CERT_NONE


async def test_says_what_to_do_without_credentials(folder: Path) -> None:
    with pytest.raises(Unavailable, match=r"no credentials in ~/\.kube/config.*set KUBECONFIG, or run in a pod"):
        await load_credentials(mounted=folder / "nowhere")


@pytest.mark.parametrize("content", ["", "[]", "a: {", "apiVersion: v1", "current-context: x\ncontexts: []"])
async def test_a_kubeconfig_nobody_can_use_is_named(folder: Path, content: str) -> None:
    path = folder / "broken"
    path.write_text(content)

    with pytest.raises(Unavailable, match=r"no credentials in .*broken"):
        await load_credentials(kubeconfig=str(path))


async def test_no_secret_shows_in_a_traceback(folder: Path) -> None:
    credentials = await load_credentials(kubeconfig=a_kubeconfig(folder, {"token": "planted-secret"}))

    assert "planted-secret" not in repr(credentials)
