"""accelerators.yaml → accelerators: vendors, labelling schemes, platforms, rows and prices."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from llmservice.catalog.accelerator import Accelerator, Json, NodeTerm
from llmservice.catalog.checks import (
    check_label_values,
    check_requirements,
    check_resource_name,
    check_seccomp_profile,
    check_tolerations,
)
from llmservice.catalog.prices import prices_from
from llmservice.catalog.rows import ACCELERATORS_FILE, mapping, typed
from llmservice.errors import InvalidCatalogue

Columns = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tables:
    vendors: Mapping[str, Any]
    schemes: tuple[Any, ...] = ()
    platforms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    accelerators: tuple[Any, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prices: Mapping[str, Any] = field(default_factory=dict)


TABLES = tuple(each.name for each in fields(_Tables))
"""The names of the tables in the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Vendor:
    domains: tuple[str, ...]
    resource_name: str
    image_variant: str
    tolerations: tuple[Json, ...] = ()
    supplemental_groups: tuple[int, ...] = ()
    seccomp_profile: str = "RuntimeDefault"
    unshared: tuple[Json, ...] = ()
    undivided: tuple[Json, ...] = ()
    shared_ending: str = ""
    slices: Mapping[str, float] = field(default_factory=dict)

    def common(self, name: str) -> dict[str, Any]:
        """What all devices of the vendor, which has this name, have alike."""
        return {
            "vendor": name,
            "image_variant": self.image_variant,
            "supplemental_groups": self.supplemental_groups,
            "seccomp_profile": self.seccomp_profile,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scheme:
    platform: str
    labels: Mapping[str, str]
    suffixes: tuple[str, ...] = ()

    def term(self, columns: Columns, *, shared: bool = False) -> NodeTerm | None:
        """The term of a row with these columns; None when the platform has no value for it."""
        found = {label: columns[column] for label, column in self.labels.items() if column in columns}
        if next(iter(self.labels)) not in found:
            return None
        suffixes = ("", *self.suffixes) if shared else ("",)
        expressions = [
            {"key": label, "operator": "In", "values": [value + suffix for suffix in suffixes for value in values]}
            for label, values in found.items()
        ]
        return NodeTerm(platform=self.platform, term={"matchExpressions": expressions})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    vendor: str
    memory_gib: float
    aliases: tuple[str, ...] = ()
    capability: str = ""
    machine: str = ""
    resource_name: str = ""
    tolerations: tuple[Json, ...] = ()
    labels: Columns = field(default_factory=dict)


def accelerators_from(raw: Any) -> dict[str, Any]:
    """Every field of a catalogue but its engines; raises InvalidCatalogue naming the row."""
    tables = typed(_Tables, raw, ACCELERATORS_FILE)
    vendors = {name: _vendor(name, row) for name, row in tables.vendors.items()}
    schemes = [_scheme(row) for row in tables.schemes]
    rows = [_row(row, vendors, schemes) for row in tables.accelerators]
    accelerators: dict[str, Accelerator] = {}
    for names, row in (*_named(rows), *_grouped(rows, tables.groups)):
        for name in names:
            if name in accelerators or name in tables.ambiguous:
                raise InvalidCatalogue(
                    f"{ACCELERATORS_FILE}: {row.name}", f"the name {name} is used twice; give each row its own"
                )
            accelerators[name] = _accelerator(row, vendors[row.vendor], schemes)
    return {
        "accelerators": accelerators,
        "ambiguous": tables.ambiguous,
        "by_domain": {
            domain: Accelerator(
                name="",
                resource_name=vendor.resource_name,
                tolerations=vendor.tolerations,
                avoided=vendor.unshared,
                **vendor.common(name),
            )
            for name, vendor in vendors.items()
            for domain in vendor.domains
        },
        "slices": {resource: gib for vendor in vendors.values() for resource, gib in vendor.slices.items()},
        "shared_endings": tuple(vendor.shared_ending for vendor in vendors.values() if vendor.shared_ending),
        "platforms": tables.platforms,
        "prices": prices_from(tables.prices, accelerators, {name: row.name for name, row in accelerators.items()}),
    }


def _vendor(name: str, raw: Any) -> _Vendor:
    where = f"{ACCELERATORS_FILE}: vendors: {name}"
    vendor = typed(_Vendor, raw, where)
    check_resource_name(vendor.resource_name, where)
    check_seccomp_profile(vendor.seccomp_profile, where)
    check_tolerations(vendor.tolerations, where)
    check_requirements((*vendor.unshared, *vendor.undivided), where)
    for resource, gib in vendor.slices.items():
        check_resource_name(resource, f"{where}: slices")
        if gib <= 0:
            raise InvalidCatalogue(where, f"slices: {resource}: {gib} is not an amount of memory; write GiB, above 0")
    return vendor


def _scheme(raw: Any) -> _Scheme:
    where = f"{ACCELERATORS_FILE}: schemes: {mapping(raw, f'{ACCELERATORS_FILE}: schemes').get('platform')}"
    scheme = typed(_Scheme, raw, where)
    if not scheme.labels:
        raise InvalidCatalogue(where, "labels is empty; map at least one node label to a column")
    return scheme


def _row(raw: Any, vendors: Mapping[str, _Vendor], schemes: Iterable[_Scheme]) -> _Row:
    where = f"{ACCELERATORS_FILE}: {mapping(raw, f'{ACCELERATORS_FILE}: accelerators').get('name')}"
    row = typed(_Row, raw, where)
    if row.vendor not in vendors:
        raise InvalidCatalogue(where, f"vendor {row.vendor} is not defined; known vendors: {', '.join(vendors)}")
    columns = {column for scheme in schemes for column in scheme.labels.values()}
    if unread := row.labels.keys() - columns:
        known = ", ".join(sorted(columns))
        raise InvalidCatalogue(where, f"no scheme uses the labels {', '.join(sorted(unread))}; known labels: {known}")
    check_label_values(row.labels, where)
    check_tolerations(row.tolerations, where)
    if row.resource_name:
        check_resource_name(row.resource_name, where)
    return row


def _named(rows: Iterable[_Row]) -> Iterable[tuple[tuple[str, ...], _Row]]:
    return [((row.name, *row.aliases), row) for row in rows]


def _grouped(rows: Iterable[_Row], groups: Columns) -> Iterable[tuple[tuple[str, ...], _Row]]:
    """A group: one row with the labels of all members and the smallest memory."""
    by_name = {row.name: row for row in rows}
    for name, members in groups.items():
        if not members:
            raise InvalidCatalogue(f"{ACCELERATORS_FILE}: groups: {name}", "is empty; list its rows")
        if missing := [member for member in members if member not in by_name]:
            raise InvalidCatalogue(
                f"{ACCELERATORS_FILE}: groups: {name}", f"{', '.join(missing)} is not the name of a row"
            )
        found = [by_name[member] for member in members]
        labels: dict[str, dict[str, None]] = {}
        for row in found:
            for column, values in row.labels.items():
                labels.setdefault(column, {}).update(dict.fromkeys(values))
        yield (
            (name,),
            _Row(
                name=name,
                vendor=found[0].vendor,
                memory_gib=min(row.memory_gib for row in found),
                capability=found[0].capability,
                machine=found[0].machine,
                resource_name=found[0].resource_name,
                labels={column: tuple(values) for column, values in labels.items()},
            ),
        )


def _accelerator(row: _Row, vendor: _Vendor, schemes: Iterable[_Scheme]) -> Accelerator:
    return Accelerator(
        name=row.name,
        resource_name=row.resource_name or vendor.resource_name,
        capability=row.capability,
        machine=row.machine,
        memory_gib=row.memory_gib,
        node_terms=tuple(term for scheme in schemes if (term := scheme.term(row.labels))),
        shared_terms=tuple(term for scheme in schemes if (term := scheme.term(row.labels, shared=True))),
        tolerations=(*vendor.tolerations, *row.tolerations),
        avoided=(*vendor.unshared, *vendor.undivided),
        shared_avoided=vendor.undivided,
        **vendor.common(row.vendor),
    )
