"""Reads LLMSERVICE_ACTIVATOR: whether there is an activator, and where."""

from llmservice.settings.readers import words

ON = "on"
_HIGHEST_PORT = 65_535


def activator(text: str) -> tuple[str, ...]:
    """`on`, or addresses with their control ports; empty for none. Raises ValueError with the way out."""
    found = tuple(words(text))
    if found == (ON,) or not found:
        return found
    for each in found:
        host, _, port = each.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal() and 0 < int(port) <= _HIGHEST_PORT):
            raise ValueError(
                f"{each!r} is no address: write on, or HOST:PORT of each control port, as in 10.0.0.1:8082"
            )
    return found


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of an address that was read."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)
