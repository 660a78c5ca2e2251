"""The planner of every verb that plans: the operator's own, with the catalogue and settings of a cluster."""

import asyncio
import functools
import importlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from llmservice.catalog.catalogue import Catalogue, nearest
from llmservice.cli.catalogue_file import catalogue_option, catalogue_with
from llmservice.cli.cluster_options import connection_options
from llmservice.cli.where import Where
from llmservice.cluster.own_namespace import USUAL
from llmservice.errors import InvalidSetting, UsageError
from llmservice.planning.network import MetricsReaders
from llmservice.reconcilers.planner import CataloguePlanner, registry_settings
from llmservice.settings import VARIABLES, Settings, settings_from

_MOST_BYTES = 64 * 1024
_SETTINGS, _PLATFORM = "--settings", "--platform"

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedBy:
    """The options. `where` and `operator_namespace` count with `from_cluster` alone."""

    catalogue: str | None = None
    settings: Path | None = None
    platform: str | None = None
    from_cluster: bool = False
    operator_namespace: str = USUAL
    where: Where = field(default_factory=Where)

    def planner(self) -> CataloguePlanner:
        """The planner that they ask for; raises UsageError, and what `planner_found` raises."""
        if not self.from_cluster:
            if self.where != Where():
                raise UsageError(
                    "NoCluster", "no cluster is asked: add --from-cluster", field="--context, --kubeconfig"
                )
            return planner_from(self.catalogue, self.settings, self.platform)
        if self.is_given:
            raise UsageError("FromCluster", "leave out --catalogue, --settings and --platform", field="--from-cluster")
        return asyncio.run(self._found())

    @property
    def is_given(self) -> bool:
        """Whether one of them says how the operator is set up."""
        return bool(self.catalogue or self.settings or self.platform)

    async def _found(self) -> CataloguePlanner:
        """Loaded when it is asked for: without it no cluster is."""
        found: Any = importlib.import_module("llmservice.cli.operator_found")
        planner: CataloguePlanner = await found.planner_at(self.where, self.operator_namespace)
        return planner


def planner_options(command: Command) -> Command:
    """Adds the options of `PlannedBy`; the command gets them as `planned_by`."""

    @functools.wraps(command)
    def gathered(*arguments: Any, where: Where, **given: Any) -> Any:
        names = ("catalogue", "settings", "platform", "from_cluster", "operator_namespace")
        planned_by = PlannedBy(where=where, **{name: given.pop(name) for name in names})
        return command(*arguments, planned_by=planned_by, **given)

    asking = click.option(
        "--from-cluster", is_flag=True, help="Read catalogue, settings and platform of the operator from its cluster."
    )
    at = click.option("--operator-namespace", default=USUAL, show_default=True, help="Where that operator runs.")
    wrapped: Any = setup_options(asking(at(connection_options(gathered))))
    return wrapped  # type: ignore[no-any-return]


def setup_options(command: Command) -> Command:
    """Adds the options `catalogue`, `settings` and `platform`, for `planner_from`."""
    for option in (
        click.option(_PLATFORM, metavar="NAME", help="How the nodes are labelled: gke, eks-karpenter, …"),
        click.option(
            _SETTINGS,
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="File with the operator's settings, a line NAME=VALUE each; they win over the environment's.",
        ),
        catalogue_option,
    ):
        command = option(command)
    return command


def planner_from(
    catalogue: str | None = None,
    settings: Path | None = None,
    platform: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> CataloguePlanner:
    """The planner that an operator with this catalogue and these settings has; raises UsageError.

    In a cluster the labels of the nodes tell the platform; here `platform`, or the setting.
    """
    rows, chosen = catalogue_with(catalogue), settings_of(settings, environment)
    try:
        registry = registry_settings(chosen)
    except InvalidSetting as error:
        raise UsageError(error.reason, str(error), field=_SETTINGS if settings else "") from error
    return CataloguePlanner(
        rows,
        registry,
        platform=_platform(platform, rows) if platform else chosen.platform,
        readers=MetricsReaders(monitoring=chosen.monitoring_namespace),
    )


def settings_of(file: Path | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """The operator's settings from a file, else from the environment; raises UsageError."""
    given = {name: value for name, value in environment.items() if name in _NAMES}
    try:
        return settings_from({**given, **(_settings_in(file) if file else {})})
    except InvalidSetting as error:
        raise UsageError(error.reason, str(error), field=_SETTINGS if file else "") from error


_NAMES = {variable.name for variable in VARIABLES}


def _settings_in(file: Path) -> dict[str, str]:
    """The variables of a file; empty lines and those that begin with # are passed over."""
    try:
        text = file.read_bytes()[: _MOST_BYTES + 1].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(f"{file}: cannot be read: {error}; save it as UTF-8") from error
    if len(text) > _MOST_BYTES:
        raise _refused(f"{file}: has more than {_MOST_BYTES} characters; give settings alone")
    return dict(_variables(file, text))


def _variables(file: Path, text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, equals, value = line.partition("=")
        name = name.strip()
        if not equals:
            raise _refused(f"{file}:{number}: write NAME=VALUE")
        if name not in _NAMES:
            near = ", ".join(nearest(name[:64], _NAMES, at_most=1))
            hint = f"did you mean {near}?" if near else "remove the line"
            raise _refused(f"{file}:{number}: {name[:64]!r} is not a setting of the operator; {hint}")
        yield name, value


def _platform(name: str, catalogue: Catalogue) -> str:
    known = catalogue.platform_names
    if name not in known:
        message = f"{name[:64]!r} is no platform of the catalogue; use one of: {', '.join(known)}"
        raise UsageError("UnknownPlatform", message, field=_PLATFORM)
    return name


def _refused(message: str) -> UsageError:
    return UsageError("InvalidSetting", message, field=_SETTINGS)
