"""No test is left out: what needs a cluster is run by its folder, so each such folder must be in the Makefile."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = "pytest.mark." + "cluster"


def test_every_folder_with_tests_on_a_cluster_is_run_by_a_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    marked = [path.relative_to(ROOT) for path in (ROOT / "tests").rglob("*.py") if MARK in path.read_text("utf-8")]
    folders = {"/".join(path.parts[:2]) for path in marked}
    assert {"tests/cluster", "tests/contracts"} <= folders
    assert {folder for folder in folders if folder not in makefile.replace("--ignore=" + folder, "")} == set()
