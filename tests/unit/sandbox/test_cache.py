from pathlib import Path

import pytest

from sandbox.build_kubernetes import kubernetes_version
from sandbox.cache import Build, Recipe, cache_folder
from sandbox.progress import Progress, Say

QUIET = Progress(quiet=True)


def a_recipe(version: str = "v1", **inputs: bytes) -> Recipe:
    return Recipe(name="tool", version=version, inputs=inputs)


def test_the_key_names_tool_and_version() -> None:
    assert a_recipe().key.startswith("tool-v1-")


@pytest.mark.parametrize(
    "changed",
    [
        a_recipe("v2", flags=b"-O2", source=b"x"),
        a_recipe(flags=b"-O3", source=b"x"),
        a_recipe(flags=b"-O2", source=b"y"),
        a_recipe(flags=b"-O2", sources=b"x"),
        a_recipe(flags=b"-O2x", source=b""),
        a_recipe(flags=b"-O2"),
    ],
)
def test_any_change_of_the_recipe_is_another_key(changed: Recipe) -> None:
    assert changed.key != a_recipe(flags=b"-O2", source=b"x").key


def test_the_order_of_inputs_does_not_matter() -> None:
    assert a_recipe(a=b"1", b=b"2").key == a_recipe(b=b"2", a=b"1").key


def test_builds_once(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(_work: Path, output: Path, _say: Say) -> None:
        made.append(output)
        (output / "program").write_text("built")

    build = Build(recipe=a_recipe(), title="Build", make=make)
    assert build.ensure(tmp_path, QUIET) == build.ensure(tmp_path, QUIET)
    assert len(made) == 1
    assert (build.folder(tmp_path) / "program").read_text() == "built"


def test_a_build_that_fails_leaves_no_result_and_keeps_its_work(tmp_path: Path) -> None:
    def fail(work: Path, output: Path, _say: Say) -> None:
        (work / "half.o").touch()
        (output / "half").touch()
        raise RuntimeError

    build = Build(recipe=a_recipe(), title="Build", make=fail)
    with pytest.raises(RuntimeError):
        build.ensure(tmp_path, QUIET)
    assert not build.folder(tmp_path).exists()
    assert [path.name for path in tmp_path.rglob("half.o")] == ["half.o"]


def test_the_next_build_starts_with_that_work_but_an_empty_result(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def make(work: Path, output: Path, _say: Say) -> None:
        seen.append([path.name for path in (*work.iterdir(), *output.iterdir())])
        (work / "half.o").touch()
        (output / "half").touch()
        if len(seen) == 1:
            raise RuntimeError

    build = Build(recipe=a_recipe(), title="Build", make=make)
    with pytest.raises(RuntimeError):
        build.ensure(tmp_path, QUIET)
    build.ensure(tmp_path, QUIET)
    assert seen == [[], ["half.o"]]


def test_the_cache_is_where_the_environment_says(tmp_path: Path) -> None:
    assert cache_folder({"LLMSERVICE_CACHE": str(tmp_path)}) == tmp_path.resolve()


def test_the_cache_lies_in_the_users_cache_folder_by_default() -> None:
    assert cache_folder({}).parts[-2:] == (".cache", "llmservice")


def test_reads_the_kubernetes_version_from_the_module() -> None:
    go_mod = "require (\n\tgo.etcd.io/etcd/server/v3 v3.6.6\n\tk8s.io/kubernetes v1.34.4\n)\n"
    assert kubernetes_version(go_mod) == "v1.34.4"
