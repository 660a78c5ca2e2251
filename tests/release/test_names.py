"""The names of a release: what they may be, and how a fork changes them."""

import pytest

from tools.release.names import Names

OURS = Names(registry="ghcr.io/llmservice", repository="https://github.com/llmservice/operator")
FORK = Names(registry="registry.example:5000/team/llm", repository="https://git.example/team/llm")


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("image: ghcr.io/llmservice/operator:0.1.0", "image: registry.example:5000/team/llm/operator:0.1.0"),
        ("url: https://github.com/llmservice/operator", "url: https://git.example/team/llm"),
        ("oci://ghcr.io/llmservice/charts", "oci://registry.example:5000/team/llm/charts"),
        ("ghcr.io/llmservice-old/operator", "ghcr.io/llmservice-old/operator"),
        ("registry.example/ghcr/llmservice/operator", "registry.example/ghcr/llmservice/operator"),
        ("mirror.example/ghcr.io/llmservice/operator", "mirror.example/ghcr.io/llmservice/operator"),
        ("https://github.com/llmservice/operator-docs", "https://github.com/llmservice/operator-docs"),
        (r"https://github.com/llmservice/operator\1", r"https://git.example/team/llm\1"),
    ],
)
def test_a_fork_changes_its_own_names_and_no_others(text: str, renamed: str) -> None:
    assert OURS.renamed(text, FORK) == renamed


def test_an_image_has_its_digest_where_it_is_known() -> None:
    assert OURS.image("operator", "0.1.0") == "ghcr.io/llmservice/operator:0.1.0"
    assert OURS.image("operator", "0.1.0", "sha256:1") == "ghcr.io/llmservice/operator:0.1.0@sha256:1"


@pytest.mark.parametrize(
    ("registry", "repository", "field"),
    [
        ("ghcr.io", "https://github.com/a/b", "registry"),
        ("ghcr.io/Acme", "https://github.com/a/b", "registry"),
        ("ghcr.io/acme/", "https://github.com/a/b", "registry"),
        ("ghcr.io/acme", "github.com/a/b", "repository"),
        ("ghcr.io/acme", "https://github.com/a", "repository"),
    ],
)
def test_a_name_that_no_registry_takes_is_refused(registry: str, repository: str, field: str) -> None:
    with pytest.raises(ValueError, match=f"^{field}: "):
        Names(registry=registry, repository=repository)
