"""Plays systemd-logind on a message bus of its own, as far as the kubelet's graceful node shutdown asks for it.

    played_logind.py SOCKET

The sandbox's node has no systemd. Of D-Bus's protocol (dbus.freedesktop.org/doc/dbus-specification.html) this knows the
handshake, replies without bodies, a property, a file descriptor, and one signal: what
k8s.io/kubernetes/pkg/kubelet/nodeshutdown/systemd/inhibit_linux.go uses. A line `true` or `false` on standard input is
sent on as PrepareForShutdown; `inhibited` is printed when the kubelet has taken its lock, `released` when it lets go.
It imports nothing of the package: it runs in the namespaces of the node.
"""

import os
import socket
import struct
import sys
import threading
from pathlib import Path

CALL, REPLY, SIGNAL = 1, 2, 4
PATH, INTERFACE, MEMBER, REPLY_SERIAL, SENDER, SIGNATURE, UNIX_FDS = 1, 2, 3, 5, 7, 8, 9
DELAY_MICROSECONDS = 3_600_000_000
"""The longest that an inhibitor may delay a shutdown: more than any kubelet asks for."""


def aligned(data: bytes, to: int) -> bytes:
    return data + bytes(-len(data) % to)


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode() + b"\0"


def field(code: int, kind: str, value: bytes) -> bytes:
    return struct.pack("<BB", code, len(kind)) + kind.encode() + b"\0" + value


def message(kind: int, fields: list[bytes], body: bytes = b"") -> bytes:
    """A whole message; each field begins at a multiple of eight bytes."""
    packed = b""
    for one in fields:
        # After code and signature, which take four bytes, strings and numbers are aligned as they are.
        packed = aligned(packed, 8) + one
    head = struct.pack("<BBBBIII", ord("l"), kind, 1, 1, len(body), 1, len(packed))
    return aligned(head + packed, 8) + body


def reply(serial: int, signature: str = "", body: bytes = b"", fds: int = 0) -> bytes:
    fields = [field(REPLY_SERIAL, "u", struct.pack("<I", serial)), field(SENDER, "s", text(":1.0"))]
    if signature:
        fields.append(field(SIGNATURE, "g", bytes([len(signature)]) + signature.encode() + b"\0"))
    if fds:
        fields.append(field(UNIX_FDS, "u", struct.pack("<I", fds)))
    return message(REPLY, fields, body)


def prepare_for_shutdown(*, now: bool) -> bytes:
    fields = [
        field(PATH, "o", text("/org/freedesktop/login1")),
        field(INTERFACE, "s", text("org.freedesktop.login1.Manager")),
        field(MEMBER, "s", text("PrepareForShutdown")),
        field(SENDER, "s", text(":1.0")),
        field(SIGNATURE, "g", b"\1b\0"),
    ]
    return message(SIGNAL, fields, struct.pack("<I", now))


class Client:
    """One connection to the bus."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.stream = connection.makefile("rb")

    def serve(self) -> None:
        self.shake_hands()
        while head := self.stream.read(16):
            _, kind, _, _, body, serial, fields = struct.unpack("<BBBBIII", head)
            content = self.stream.read(fields + (-fields % 8) + body)
            if kind == CALL:
                self.answer(serial, content)

    def shake_hands(self) -> None:
        self.stream.read(1)
        answers = {b"AUTH": b"REJECTED EXTERNAL", b"NEGOTIATE_UNIX_FD": b"AGREE_UNIX_FD"}
        while (line := self.stream.readline().strip()) != b"BEGIN":
            self.connection.sendall(answers.get(line, b"OK " + b"0" * 32) + b"\r\n")

    def answer(self, serial: int, content: bytes) -> None:
        if b"\0\0\0Hello\0" in content:
            self.connection.sendall(reply(serial, "s", text(":1.1")))
        elif b"InhibitDelayMaxUSec\0" in content:
            self.connection.sendall(reply(serial, "v", aligned(b"\1t\0", 8) + struct.pack("<Q", DELAY_MICROSECONDS)))
        elif b"\0\0\0Inhibit\0" in content:
            ours, theirs = os.pipe()
            socket.send_fds(self.connection, [reply(serial, "h", struct.pack("<I", 0), fds=1)], [theirs])
            os.close(theirs)
            print("inhibited", flush=True)  # noqa: T201
            threading.Thread(target=self.wait_for_release, args=[ours], daemon=True).start()
        else:
            self.connection.sendall(reply(serial))

    def wait_for_release(self, lock: int) -> None:
        os.read(lock, 1)
        os.close(lock)
        print("released", flush=True)  # noqa: T201


def main(path: str) -> None:
    clients: list[Client] = []

    def serve(client: Client) -> None:
        clients.append(client)
        try:
            client.serve()
        finally:
            clients.remove(client)

    def accept() -> None:
        while True:
            client = Client(server.accept()[0])
            threading.Thread(target=serve, args=[client], daemon=True).start()

    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        print("listening", flush=True)  # noqa: T201
        threading.Thread(target=accept, daemon=True).start()
        for line in sys.stdin:
            for client in [*clients]:
                client.connection.sendall(prepare_for_shutdown(now=line.strip() == "true"))


if __name__ == "__main__":
    main(sys.argv[1])
