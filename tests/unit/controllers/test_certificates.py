"""The certificate of the metrics: the administrator's, as it is renewed, or one of this start."""

import asyncio
import logging
import os
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from llmservice.controllers.endpoints.certificates import CertificateFiles, SelfSigned, sign
from llmservice.controllers.endpoints.http_server import Certificate, HttpServer
from llmservice.errors import InvalidSetting
from tests.unit.controllers.http_asking import ask


async def hello(_: web.BaseRequest) -> web.Response:
    return web.Response(text="hello")


def a_server(certificate: Certificate) -> HttpServer:
    return HttpServer(name="test", port=0, setting="TEST", handle=hello, certificate=certificate)


def write(folder: Path, pem: bytes, at: float) -> CertificateFiles:
    """A key and its certificate as files; returns what reads them."""
    key, mark, certificate = pem.partition(b"-----BEGIN CERTIFICATE-----")
    for name, content in (("tls.key", key), ("tls.crt", mark + certificate)):
        (folder / name).write_bytes(content)
        os.utime(folder / name, (at, at))
    return CertificateFiles(certificate=str(folder / "tls.crt"), key=str(folder / "tls.key"), look_seconds=0.01)


def shown_by(port: int) -> str:
    return ssl.get_server_certificate(("127.0.0.1", port), timeout=5)


def first_other_than(before: str, port: int) -> str:
    for _ in range(1000):
        if (now := shown_by(port)) != before:
            return now
    raise AssertionError("the certificate stays the same")


async def test_one_of_its_own_serves_https_and_nothing_else() -> None:
    async with a_server(SelfSigned()) as server:
        assert await ask(server, "/", by="https") == (200, "hello")
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert b"hello" not in await reader.read()
        writer.close()


async def test_connections_that_never_shake_hands_give_way() -> None:
    """Each costs memory from its first byte on."""
    async with a_server(SelfSigned()) as server:
        server.connections = 4
        assert (await ask(server, "/", by="https"))[0] == 200
        silent = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
        for number, connection in enumerate(silent):
            connection.sendall(bytes([22, 3, 1][: number % 4]))
        assert await ask(server, "/", by="https") == (200, "hello")
        assert len(server._open) <= 4
        for connection in silent:
            connection.close()
        assert await ask(server, "/", by="https") == (200, "hello")


async def test_each_start_has_another_key_and_none_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    async with a_server(SelfSigned()) as first, a_server(SelfSigned()) as second:
        assert await asyncio.to_thread(shown_by, first.port) != await asyncio.to_thread(shown_by, second.port)
    assert os.listdir(tmp_path) == []  # noqa: PTH208  (pathlib is refused in a coroutine)


async def test_while_there_is_none_yet_connections_wait() -> None:
    tries = iter([subprocess.TimeoutExpired("sign", 1), None])

    def at_the_second_try() -> bytes:
        if error := next(tries):
            raise error
        return sign()

    certificate = SelfSigned(sign=at_the_second_try, again_seconds=0.01)
    async with a_server(certificate) as server:
        assert await ask(server, "/", by="https") == (200, "hello")


async def test_a_renewed_certificate_is_taken_without_a_restart(tmp_path: Path) -> None:
    async with a_server(write(tmp_path, sign(), at=1)) as server:
        before = await asyncio.to_thread(shown_by, server.port)
        write(tmp_path, sign(), at=2)
        now = await asyncio.to_thread(first_other_than, before, server.port)
        assert now.strip() == (tmp_path / "tls.crt").read_text().strip()


async def test_a_pair_that_does_not_fit_is_told_and_the_last_one_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    async with a_server(write(tmp_path, sign(), at=1)) as server:
        before = await asyncio.to_thread(shown_by, server.port)
        (tmp_path / "tls.crt").write_bytes(sign().partition(b"-----BEGIN CERT")[2])
        async with asyncio.timeout(30):
            while "the last certificate is kept" not in caplog.text:  # noqa: ASYNC110  (a log line is no event)
                await asyncio.sleep(0.01)
        assert await asyncio.to_thread(shown_by, server.port) == before


@pytest.mark.parametrize(("certificate", "key"), [("absent.crt", "absent.key"), ("", "tls.key"), ("tls.crt", "")])
def test_what_is_no_certificate_is_named_with_the_way_out(tmp_path: Path, certificate: str, key: str) -> None:
    write(tmp_path, sign(), at=1)
    names = [str(tmp_path / name) if name else "" for name in (certificate, key)]
    with pytest.raises(InvalidSetting, match=r"LLMSERVICE_TLS_CERT_FILE: .* name PEM files"):
        CertificateFiles(certificate=names[0], key=names[1])


def test_the_library_that_signs_stays_out_of_the_operators_memory() -> None:
    code = "import sys, llmservice.controllers.application; print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "False\n"
