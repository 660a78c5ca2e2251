"""The manifest by which krew installs `kubectl llm` (krew.sigs.k8s.io, v1alpha2)."""

from collections.abc import Mapping
from typing import Any

import yaml

from tools.release.files import Target, plugin_archive
from tools.release.names import Names

_SHORT = "Serve large language models: status, plans, diagnosis"
_LONG = """\
LLMServices of the cluster on a screen: what runs, where and why; what a file would become, before it is applied;
whether a model fits a GPU; what has to be right in a cluster. The same as the command `llmservice`.
The operator itself is installed by its chart.
"""
_CAVEATS = "It plans and renders as the operator of the same version does: keep both at one version.\n"


def krew_manifest(version: str, names: Names, digests: Mapping[Target, str]) -> str:
    """The manifest of plugin `llm` as YAML. `digests` has the sha256 (hex) of each archive; ValueError without any."""
    if not digests:
        raise ValueError("no archive of kubectl-llm: krew has nothing to install")
    platforms = [_platform(version, names, target, digests[target]) for target in sorted(digests, key=_order)]
    body = {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "llm"},
        "spec": {
            "version": f"v{version}",
            "homepage": names.repository,
            "shortDescription": _SHORT,
            "description": _LONG,
            "caveats": _CAVEATS,
            "platforms": platforms,
        },
    }
    return yaml.dump(body, Dumper=_Dumper, sort_keys=False, width=120)


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as lines."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _order(target: Target) -> tuple[str, str]:
    return target.os, target.arch


def _platform(version: str, names: Names, target: Target, digest: str) -> dict[str, Any]:
    program = "kubectl-llm.exe" if target.os == "windows" else "kubectl-llm"
    return {
        "selector": {"matchLabels": {"os": target.os, "arch": target.arch}},
        "uri": f"{names.downloads(version)}/{plugin_archive(version, target)}",
        "sha256": digest,
        "bin": program,
    }
