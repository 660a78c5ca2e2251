"""What a release says of itself: krew's manifest and the provenance."""

import json

import pytest
import yaml

from tools.release.files import Target
from tools.release.krew import krew_manifest
from tools.release.names import Names
from tools.release.provenance import Source, provenance

NAMES = Names(registry="registry.example/team", repository="https://git.example/team/llm")
SOURCE = Source(version="0.2.0", commit="a" * 40, epoch=1_700_000_000, names=NAMES)
BASE = {"name": "docker.io/library/python:3.11", "digest": f"sha256:{'b' * 64}"}


def test_krew_finds_each_platform_with_its_digest() -> None:
    digests = {Target(os="windows", arch="amd64"): "2", Target(os="linux", arch="arm64"): "1"}
    body = yaml.safe_load(krew_manifest("0.2.0", NAMES, digests))
    assert (body["kind"], body["metadata"], body["spec"]["version"]) == ("Plugin", {"name": "llm"}, "v0.2.0")
    assert body["spec"]["platforms"] == [
        {
            "selector": {"matchLabels": {"os": "linux", "arch": "arm64"}},
            "uri": f"{NAMES.repository}/releases/download/v0.2.0/kubectl-llm_v0.2.0_linux_arm64.tar.gz",
            "sha256": "1",
            "bin": "kubectl-llm",
        },
        {
            "selector": {"matchLabels": {"os": "windows", "arch": "amd64"}},
            "uri": f"{NAMES.repository}/releases/download/v0.2.0/kubectl-llm_v0.2.0_windows_amd64.tar.gz",
            "sha256": "2",
            "bin": "kubectl-llm.exe",
        },
    ]


def test_krews_index_takes_what_it_says() -> None:
    """As its best practices ask: one short line without a full stop."""
    spec = yaml.safe_load(krew_manifest("0.2.0", NAMES, {Target(os="linux", arch="amd64"): "1"}))["spec"]
    assert 0 < len(spec["shortDescription"]) <= 60
    assert not spec["shortDescription"].endswith(".")


def test_without_an_archive_there_is_no_plugin() -> None:
    with pytest.raises(ValueError, match="archive"):
        krew_manifest("0.2.0", NAMES, {})


def test_the_provenance_names_every_file_the_commit_and_the_base() -> None:
    said = json.loads(provenance(SOURCE, {"b": "2", "a": "1"}, BASE, "https://git.example/builder"))
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["subject"] == [{"name": "a", "digest": {"sha256": "1"}}, {"name": "b", "digest": {"sha256": "2"}}]
    definition = said["predicate"]["buildDefinition"]
    assert definition["externalParameters"]["version"] == "0.2.0"
    source, base = definition["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": "a" * 40}
    assert source["uri"] == "git+https://git.example/team/llm@refs/tags/v0.2.0"
    assert base == {"name": BASE["name"], "digest": {"sha256": "b" * 64}}
    assert said["predicate"]["runDetails"] == {"builder": {"id": "https://git.example/builder"}}


def test_a_base_that_nobody_can_pull_has_no_digest() -> None:
    said = json.loads(provenance(SOURCE, {"a": "1"}, {"name": "made here"}, "https://git.example/builder"))
    assert said["predicate"]["buildDefinition"]["resolvedDependencies"][1] == {"name": "made here"}


def test_an_image_built_elsewhere_leaves_no_base() -> None:
    said = json.loads(provenance(SOURCE, {"a": "1"}, {}, "https://git.example/builder"))
    assert len(said["predicate"]["buildDefinition"]["resolvedDependencies"]) == 1
