import pytest

from llmservice.catalog.loader import load_catalogue
from sandbox.errors import SandboxError
from sandbox.proxy_image import PROXY_IMAGE, version_in


def test_it_has_the_name_that_pods_ask_for() -> None:
    assert load_catalogue().proxy_image == PROXY_IMAGE


def test_its_version_is_what_haproxy_says() -> None:
    assert version_in("HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/\n") == "2.6.12-1+deb12u4"
    with pytest.raises(SandboxError, match="names no version"):
        version_in("command not found")
