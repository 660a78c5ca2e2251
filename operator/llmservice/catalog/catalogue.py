"""Look-ups in the catalogue by exact name; the error for an unknown name suggests similar ones."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from llmservice.api.v1alpha1.conditions import Reason
from llmservice.catalog.accelerator import Accelerator
from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.model_rows import KnownModels
from llmservice.catalog.prices import Prices
from llmservice.catalog.recorded_flags import Recording
from llmservice.errors import InvalidSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineVersions:
    """The versions of one engine; `default` is a key of `versions`.

    `recordings` hold what was recorded of each version; one that is missing or empty says nothing about its version.
    """

    default: str
    versions: Mapping[str, EngineVersion]
    recordings: Mapping[str, Recording] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Every fact planning may look up.

    `accelerators` maps each name, alias and group to its row. `ambiguous` maps a name that means different amounts of
    memory to the exact choices. `by_domain` maps the domain of a device resource to its vendor's defaults, as an
    accelerator without a name. `slices` maps the resource of a part of a device to its GiB; a resource that ends like
    one of `shared_endings` is shared among pods. `platforms` maps each platform to node labels that identify it, the
    most specific first. `models` is None for the shipped ones: `loader.models_of` loads those when they are first
    needed. `proxy_image` is that of the proxy before engines. `prices` are an administrator's.
    """

    engines: Mapping[str, EngineVersions]
    accelerators: Mapping[str, Accelerator]
    ambiguous: Mapping[str, tuple[str, ...]]
    by_domain: Mapping[str, Accelerator]
    platforms: Mapping[str, tuple[str, ...]]
    slices: Mapping[str, float] = field(default_factory=dict)
    shared_endings: tuple[str, ...] = ()
    models: KnownModels | None = None
    proxy_image: str = ""
    prices: Prices = field(default_factory=Prices)

    def engine_version(self, engine: str, version: str | None) -> EngineVersion:
        """The row of a version, or of the default when None; raises InvalidSpec (UnknownVersion)."""
        rows = self.engines.get(engine)
        if rows is None:
            raise InvalidSpec(
                Reason.UNKNOWN_VERSION, f"the catalogue has no version of {engine}; add a row", field="spec.engine"
            )
        row = rows.versions.get(version or rows.default)
        if row is None:
            known = ", ".join(rows.versions)
            raise InvalidSpec(
                Reason.UNKNOWN_VERSION,
                f"{version} is not a version of {engine} in the catalogue; use one of: {known}, or omit the field "
                f"for {rows.default}",
                field="spec.engineOptions.version",
            )
        return row

    def versions(self, engine: str) -> Collection[EngineVersion]:
        """The rows of an engine in the order of the file, the oldest first."""
        rows = self.engines.get(engine)
        return rows.versions.values() if rows else ()

    def accelerator(self, name: str) -> Accelerator:
        """The row of an exact name; raises InvalidSpec (UnknownAccelerator, AmbiguousAccelerator)."""
        if choices := self.ambiguous.get(name):
            raise InvalidSpec(
                Reason.AMBIGUOUS_ACCELERATOR,
                f"{name} exists with different amounts of memory; use one of: {', '.join(choices)}",
                field="spec.gpu.type",
            )
        row = self.accelerators.get(name)
        if row is None:
            raise InvalidSpec(Reason.UNKNOWN_ACCELERATOR, self._unknown(name), field="spec.gpu.type")
        return row

    def device(self, resource_name: str) -> Accelerator | None:
        """The vendor's defaults for a device resource, with the memory of a slice; None when the vendor is unknown.

        Slices with media engines (`mig-1g.10gb.me`) have the memory of those without.
        """
        vendor = self.by_domain.get(resource_name.partition("/")[0])
        if vendor is None:
            return None
        shared = resource_name.endswith(self.shared_endings) if self.shared_endings else False
        gib = 0.0 if shared else self.slices.get(resource_name.partition(".me")[0], 0.0)
        return replace(vendor, memory_gib=gib, shared=shared)

    def price_per_hour(self, accelerator: str, resource: str) -> float | None:
        """What one device of this type, that pods ask for by this resource, costs; None where no price is set.

        Either name may be empty.
        """
        device = self.device(resource)
        is_part = device is not None and (device.shared or device.memory_gib > 0)
        return self.prices.of(accelerator, resource, whole=not is_part)

    @property
    def platform_names(self) -> list[str]:
        """Every platform that has node labels of its own."""
        terms = (term for row in self.accelerators.values() for term in row.node_terms)
        return sorted({*self.platforms, *(term.platform for term in terms)})

    def platform_of(self, label_keys: Collection[str]) -> str:
        """The platform of a cluster whose nodes have these label keys; empty when it cannot be told."""
        return next((name for name, keys in self.platforms.items() if any(key in label_keys for key in keys)), "")

    def _unknown(self, name: str) -> str:
        near = nearest(name, (*self.accelerators, *self.ambiguous))
        hint = f" (similar: {', '.join(near)})" if near else ""
        return (
            f"{name} is not in the accelerator catalogue{hint}; correct it, or set spec.gpu.resourceName to the "
            "resource that the nodes advertise, or ask an administrator to add a row"
        )


def nearest(name: str, names: Iterable[str], at_most: int = 3) -> list[str]:
    """The most similar names, best first, ignoring case."""
    by_fold: dict[str, str] = {}
    for known in names:
        by_fold.setdefault(known.casefold(), known)
    return [by_fold[match] for match in get_close_matches(name.casefold(), by_fold, n=at_most, cutoff=0.5)]
