from pathlib import Path

import pytest

from llmservice.cluster.own_namespace import USUAL, own_namespace


@pytest.mark.parametrize(("text", "namespace"), [("team-a\n", "team-a"), ("", USUAL)])
def test_it_is_the_service_accounts(tmp_path: Path, text: str, namespace: str) -> None:
    (tmp_path / "namespace").write_text(text)
    assert own_namespace(tmp_path) == namespace


def test_outside_a_cluster_it_is_where_the_manifests_install_the_operator(tmp_path: Path) -> None:
    manifest = Path(__file__).parents[3] / "manifests" / "overlays" / "cluster" / "namespace.yaml"
    assert own_namespace(tmp_path / "absent") == USUAL
    assert f"name: {USUAL}" in manifest.read_text()
