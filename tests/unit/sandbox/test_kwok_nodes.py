"""The nodes that KWOK plays."""

import pytest

from sandbox.kwok_nodes import MODULE, kwok_build, kwok_version


def test_the_version_of_the_build_is_the_one_that_go_mod_requires() -> None:
    version = kwok_version((MODULE / "go.mod").read_text())
    assert kwok_build().recipe.key.startswith(f"kwok-{version}-")


def test_a_module_that_requires_no_kwok_is_refused() -> None:
    with pytest.raises(ValueError, match="no line `require sigs"):
        kwok_version("module kwok\n\ngo 1.24.0\n")
