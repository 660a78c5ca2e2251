"""Many clients at the same moment, as cheap as Python makes them: plain sockets in one process, and one epoll for all.

Run: python benchmarks/refusal_clients.py HOST PORT CLIENTS ENOUGH [--connected] [--alone]. Prints one JSON object: for
each answer that came its status and milliseconds, until ENOUGH refusals came; `sending` is how long the clients took to
send. `--connected`: connections are open before the clock starts, else connecting counts. `--alone`: the far end is a
thread here that answers without reading, which shows the clients' own share.
"""

import argparse
import json
import resource
import select
import socket
import sys
import threading
import time
from dataclasses import dataclass, field

BODY = b'{"model": "chat", "messages": [{"role": "user", "content": "' + b"word " * 200 + b'"}]}'
REQUEST = f"POST /v1/chat/completions HTTP/1.1\r\nHost: chat\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY
REFUSED = 503
_SECONDS = 60.0
_STATUS = slice(9, 12)


@dataclass(slots=True)
class Clients:
    """`sent`: by file, when its client began. `answers`: status and milliseconds, in the order they came."""

    address: tuple[str, int]
    open: dict[int, socket.socket] = field(default_factory=dict)
    sent: dict[int, float] = field(default_factory=dict)
    answers: list[tuple[int, float]] = field(default_factory=list)
    waiting: select.epoll = field(default_factory=select.epoll)
    began: float = 0.0

    def connect(self, number: int) -> None:
        """Open so many connections, and wait for them."""
        for _ in range(number):
            client = socket.create_connection(self.address, timeout=_SECONDS)
            client.settimeout(0)
            self.open[client.fileno()] = client

    def send(self) -> None:
        """Each its request, on the connections that are open."""
        self.began = time.perf_counter()
        for file, client in self.open.items():
            self.sent[file] = time.perf_counter()
            client.send(REQUEST)
            self.waiting.register(file, select.EPOLLIN)

    def connect_and_send(self, number: int) -> None:
        """Each opens its connection, and sends as soon as it is there."""
        self.began = time.perf_counter()
        for _ in range(number):
            client = socket.socket()
            client.settimeout(0)
            file = client.fileno()
            self.open[file], self.sent[file] = client, time.perf_counter()
            client.connect_ex(self.address)
            self.waiting.register(file, select.EPOLLOUT)

    def read(self, enough: int) -> None:
        """Until so many were refused."""
        refused, end = 0, time.perf_counter() + _SECONDS
        while refused < enough and time.perf_counter() < end:
            for file, event in self.waiting.poll(1.0):
                if event & select.EPOLLIN:
                    refused += self._answered(file) == REFUSED
                elif event & (select.EPOLLHUP | select.EPOLLERR):
                    self._broken(file)
                else:
                    self.open[file].send(REQUEST)
                    self.waiting.modify(file, select.EPOLLIN)

    def _answered(self, file: int) -> int:
        try:
            data = self.open[file].recv(65536)
        except ConnectionError:
            data = b""
        status = int(data[_STATUS]) if data else 0
        self.answers.append((status, (time.perf_counter() - self.sent[file]) * 1e3))
        self.waiting.unregister(file)
        return status

    def _broken(self, file: int) -> None:
        self.answers.append((0, (time.perf_counter() - self.sent[file]) * 1e3))
        self.waiting.unregister(file)


def answering_at_once(number: int) -> tuple[str, int]:
    """The address of a thread that answers so many connections before it reads anything."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=number)
    told = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"

    def answer() -> None:
        kept = []
        for _ in range(number):
            kept.append(listener.accept()[0])
            kept[-1].send(told)
        time.sleep(_SECONDS)

    threading.Thread(target=answer, daemon=True).start()
    address: tuple[str, int] = listener.getsockname()
    return address


def play(address: tuple[str, int], number: int, enough: int, *, connected: bool) -> dict[str, object]:
    """What the clients saw."""
    clients = Clients(address)
    if connected:
        clients.connect(number)
        time.sleep(1)
        clients.send()
    else:
        clients.connect_and_send(number)
    sending = (time.perf_counter() - clients.began) * 1e3
    clients.read(enough)
    return {"answers": clients.answers, "sending": sending, "all": (time.perf_counter() - clients.began) * 1e3}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("clients", type=int)
    parser.add_argument("enough", type=int)
    parser.add_argument("--connected", action="store_true")
    parser.add_argument("--alone", action="store_true")
    given = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    where = answering_at_once(given.clients) if given.alone else (given.host, given.port)
    json.dump(play(where, given.clients, given.enough, connected=given.connected), sys.stdout)
