"""Configuration files that an engine asks for: annotations of the pod, which a volume shows as files.

So no ConfigMap has to be made, owned and cleared away, and a changed file is a changed pod template: it is rolled out.
"""

from collections.abc import Iterator, Mapping

from llmservice.api.v1alpha1.resource import GROUP
from llmservice.catalog.accelerator import Json
from llmservice.planning.pod_plan import Mount

_PREFIX = f"{GROUP}/file-"


def file_annotations(files: Mapping[str, str]) -> dict[str, str]:
    """Annotation → text of a file, for files by their absolute paths."""
    return {f"{_PREFIX}{name}": files[path] for name, path in _named(files)}


def generated_mounts(files: Mapping[str, str]) -> tuple[Mount, ...]:
    """One read-only volume for each file, so that it hides nothing else in its folder."""
    return tuple(
        Mount(name=f"generated-{number}", path=path, source=_source(name), read_only=True, sub_path=name)
        for number, (name, path) in enumerate(_named(files))
    )


def _named(files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Name and path of each file; the number keeps files of one name in two folders apart."""
    for number, path in enumerate(sorted(files)):
        yield f"{number}-{path.rpartition('/')[2]}", path


def _source(name: str) -> Json:
    field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{_PREFIX}{name}']"}
    return {"downwardAPI": {"items": [{"path": name, "fieldRef": field}]}}
