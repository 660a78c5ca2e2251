"""Validates the column `support` of a version: a name that nothing asks for would never be refused."""

from collections.abc import Iterator, Mapping

from llmservice.catalog.engine_version import EngineVersion
from llmservice.catalog.support import NEVER, Support, number_of
from llmservice.errors import InvalidCatalogue
from llmservice.untrusted.patterns import compiled

_FIELDS = ("dtype", "kvCacheDtype", "model.uri", "quantization")
_MACHINE = compiled(r"[a-z0-9]([-._a-z0-9]{0,61}[a-z0-9])?")


def check_support(version: EngineVersion, where: str) -> None:
    """Accept valid cells; raises InvalidCatalogue naming variant and column."""
    for variant, cell in version.support.items():
        if variant not in version.images:
            known = ", ".join(version.images)
            raise InvalidCatalogue(where, f"support: {variant} has no image; use one of: {known}")
        for problem in (*_of_devices(cell), *_of_needs(cell.needs, version)):
            raise InvalidCatalogue(where, f"support: {variant}: {problem}")


def _of_devices(cell: Support) -> Iterator[str]:
    for name in ("least", "most"):
        written = getattr(cell, name)
        if written and number_of(written) is None:
            yield f'{name}: {written!r} is not a compute capability; write it as "8.0"'
    for machine in cell.machines:
        if not _MACHINE.matches(machine):
            yield f"machines: {machine!r} is not a value of kubernetes.io/arch; write amd64 or arm64"


def _of_needs(needs: Mapping[str, Mapping[str, str]], version: EngineVersion) -> Iterator[str]:
    for name, values in needs.items():
        if name not in _FIELDS:
            yield f"needs: {name} is not a field that is looked up; known fields: {', '.join(_FIELDS)}"
        for value, least in values.items():
            if least != NEVER and number_of(least) is None:
                yield f'needs: {name}: {value}: {least!r} is not a compute capability such as "8.0", nor "-"'
            if name == "quantization" and value not in version.quantizations:
                yield f"needs: quantization: {value} is not one of the version's quantizations; correct it"
