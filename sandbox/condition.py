"""How a sandbox is doing, as values, and as the table that `status` prints."""

from dataclasses import dataclass
from datetime import timedelta

from sandbox.api_client import ApiClient
from sandbox.cell import Cell
from sandbox.components import Journal
from sandbox.errors import SandboxError
from sandbox.images import image_names
from sandbox.node_resources import extended_resources, is_ready
from sandbox.settings import SandboxSpec
from sandbox.supervision import is_healthy


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentCondition:
    """One program: `pid` is None when it has ended."""

    name: str
    pid: int | None
    uptime_seconds: float
    healthy: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A whole sandbox that is up, well or not."""

    server: str
    components: tuple[ComponentCondition, ...]
    node_ready: bool
    resources: dict[str, str]
    images: tuple[str, ...]

    @property
    def is_well(self) -> bool:
        """Whether everything runs and answers."""
        return self.node_ready and all(component.healthy for component in self.components)

    def lines(self) -> list[str]:
        """The table."""
        rows = [f"{'COMPONENT':24} {'PID':>8}  {'UPTIME':>9}  HEALTH"]
        for component in self.components:
            uptime = str(timedelta(seconds=int(component.uptime_seconds))) if component.pid else "-"
            health = "ok" if component.healthy else "SILENT" if component.pid else "ENDED"
            rows.append(f"{component.name:24} {component.pid or '-':>8}  {uptime:>9}  {health}")
        resources = ", ".join(f"{name}: {amount}" for name, amount in self.resources.items()) or "no devices"
        rows += [
            "",
            f"node      {'Ready' if self.node_ready else 'NOT READY'}, {resources}",
            f"server    {self.server}",
        ]
        rows += [f"{'' if number else 'images':9} {name}" for number, name in enumerate(self.images)]
        return rows


def observe(spec: SandboxSpec, cell: Cell) -> Condition:
    """Ask every part; what does not answer counts as ill, and nothing is raised."""
    journal = Journal(folder=spec.folder)
    node_ready, resources, images = False, {}, []
    try:
        api = ApiClient(spec.kubeconfig)
        node_ready, resources = is_ready(api), extended_resources(api)
        images = image_names(cell)
    except (SandboxError, FileNotFoundError):
        pass  # the component's own row says it
    return Condition(
        server=spec.server,
        components=tuple(_component(cell, journal, name) for name in journal.names()),
        node_ready=node_ready,
        resources=resources,
        images=tuple(images),
    )


def _component(cell: Cell, journal: Journal, name: str) -> ComponentCondition:
    running = journal.running(name)
    return ComponentCondition(
        name=name,
        pid=running.pid if running else None,
        uptime_seconds=running.uptime_seconds() if running else 0,
        healthy=running is not None and is_healthy(cell, journal.noted(name).get("health_url", "")),
    )
