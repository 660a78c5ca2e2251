"""The configuration is one that HAProxy takes without a warning, whatever is planned."""

import subprocess
from pathlib import Path

import pytest

from llmservice.planning.proxy_plan import ProxyPlan
from llmservice.rendering.proxy_config import CONFIG_FILE, CONFIG_FOLDER, KEYS_SCRIPT, proxy_config
from llmservice.rendering.proxy_keys import KEYS_LUA
from tests.unit.proxy.lab import a_proxy, needs_haproxy, probe

PLANS = {
    "measures": a_proxy(running=4, queued=1000),
    "measures-with-keys": a_proxy(running=4, queued=1000, keys=True),
    "keys": a_proxy(keys=True),
    "expects": a_proxy(running=1, queued=10, health=probe("/api/ps", 'it\'s "100%" {loaded} # \\ $HOME')),
    "client-paths": a_proxy(running=1, queued=10, client_paths=("/", "/v1/*", "/api/it's")),
    "odd-path": a_proxy(running=1, queued=10, health=probe("/it's #1 %[path]")),
}


@needs_haproxy
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
def test_haproxy_takes_it_without_a_warning(plan: ProxyPlan, tmp_path: Path) -> None:
    config, script = tmp_path / CONFIG_FILE, tmp_path / KEYS_SCRIPT
    script.write_text(KEYS_LUA)
    config.write_text(proxy_config(plan).replace(f"{CONFIG_FOLDER}/", f"{tmp_path}/"))
    checked = subprocess.run(  # noqa: S603
        ["haproxy", "-c", "-dW", "-f", config],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert checked.returncode == 0, checked.stderr


def test_a_text_of_several_lines_is_refused() -> None:
    """Else what an engine expects could be a line of the configuration."""
    with pytest.raises(ValueError, match="one line"):
        proxy_config(a_proxy(running=1, health=probe("/api/ps", "loaded\nbackend other")))


def test_a_request_to_an_engine_that_queues_itself_never_waits_in_the_proxy() -> None:
    text = proxy_config(a_proxy(keys=True))
    assert "overloaded" not in text
    assert [line for line in text.splitlines() if "server engine" in line and "maxconn" in line] == []
