"""Many connections of one port take no place from another's."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from llmservice.activator.connections import Connections


@dataclass(eq=False)
class Client:
    """A connection whose end is seen at once."""

    connections: Connections
    port: int
    is_idle: bool = True
    is_gone: bool = False
    ended: bool = field(default=False)

    def hang_up(self) -> None:
        self.ended = True
        self.connections.went(self.port, self)


def came(connections: Connections, port: int, *, is_idle: bool = True) -> Client:
    client = Client(connections, port, is_idle)
    connections.came(port, client)
    return client


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=60), st.integers(1, 10))
def test_there_are_never_more_than_may_be(arrivals: list[tuple[int, bool]], most: int) -> None:
    connections = Connections(most)
    clients = [came(connections, port, is_idle=is_idle) for port, is_idle in arrivals]
    assert len(connections) == sum(not client.ended for client in clients) <= most
    assert len(connections) == min(most, len(clients))


def test_the_oldest_idle_one_of_the_busiest_port_gives_way() -> None:
    connections = Connections(3)
    busy, idle, other = came(connections, 1, is_idle=False), came(connections, 1), came(connections, 2)
    newcomer = came(connections, 2)
    assert [client.ended for client in (busy, idle, other, newcomer)] == [False, True, False, False]


def test_a_newcomer_finds_no_room_where_all_are_being_answered() -> None:
    connections = Connections(2)
    busy = [came(connections, 1, is_idle=False) for _ in range(2)]
    newcomer = came(connections, 2)
    assert [client.ended for client in (*busy, newcomer)] == [False, False, True]


def test_idle_ones_of_a_port_are_hung_up_on() -> None:
    connections = Connections(9)
    busy, idle, other = came(connections, 1, is_idle=False), came(connections, 1), came(connections, 2)
    connections.hang_up_idle(1)
    assert [client.ended for client in (busy, idle, other)] == [False, True, False]
    connections.hang_up_all()
    assert (busy.ended, other.ended, len(connections)) == (True, True, 0)
