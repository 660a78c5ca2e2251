"""Starting, checking and restarting the components of a cell."""

from signal import SIGKILL, SIGTERM

from sandbox.cell import Cell
from sandbox.commands import run
from sandbox.components import Component, Journal
from sandbox.errors import SandboxError
from sandbox.waiting import wait_until

LINES_OF_LOG = 8
STOP_SECONDS = 15


def ensure_running(cell: Cell, journal: Journal, component: Component) -> bool:
    """Start the component unless it already runs as described; True when it was started."""
    running = journal.running(component.name)
    if running and journal.noted(component.name).get("digest") == component.digest:
        return False
    if running and not running.stop(SIGTERM, STOP_SECONDS):
        running.stop(SIGKILL, STOP_SECONDS)
    log, record = journal.log(component.name), journal.record(component.name)
    log.parent.mkdir(parents=True, exist_ok=True)
    noted = {"digest": component.digest, "health_url": component.health_url}
    cell.start_program(list(component.argv), log=log, record=record, **noted)
    return True


def wait_healthy(cell: Cell, journal: Journal, component: Component, *, timeout_seconds: float = 60) -> None:
    """Return when the component answers; SandboxError with the end of its log when it ends or stays silent."""

    def healthy() -> bool:
        if journal.running(component.name) is None:
            raise _Ended
        return is_healthy(cell, component.health_url)

    try:
        wait_until(healthy, f"{component.name} healthy", timeout_seconds=timeout_seconds)
    except _Ended:
        log = journal.log(component.name)
        last = "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-LINES_OF_LOG:])
        raise SandboxError(f"{component.name} ended; the last lines of {log}:\n{last}") from None


def is_healthy(cell: Cell, health_url: str) -> bool:
    """Ask a component, from inside the cell."""
    try:
        run(cell.command("curl", "-sSfk", "-o", "/dev/null", "--max-time", "2", health_url))
    except SandboxError:
        return False
    return True


class _Ended(Exception):
    """The component's process is gone."""
