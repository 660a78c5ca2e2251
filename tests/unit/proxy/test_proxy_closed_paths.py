"""Paths of an engine that no client may reach, in every spelling that the engine would understand."""

from pathlib import Path

import pytest
from yarl import URL

from tests.unit.proxy.lab import a_lab, a_proxy, needs_haproxy

pytestmark = needs_haproxy


@pytest.mark.parametrize("keys", [False, True])
async def test_a_closed_path_is_not_there_in_any_spelling(tmp_path: Path, *, keys: bool) -> None:
    plan = a_proxy(running=1, queued=5, keys=keys, closed_paths=("/health/all", "/version"))
    async with a_lab(plan, tmp_path, {"someone": "secret"}) as lab:
        for path in ("/version", "/%76ersion", "/version?a=b", "/health%2Fall"):
            url = URL(f"{lab.url}{path}", encoded=True)
            for method in ("GET", "POST"):
                async with lab.session.request(method, url, headers={"Authorization": "Bearer secret"}) as response:
                    assert response.status == 404, (method, path)
        assert (await lab.get(f"{lab.url}/health"))[0] == 200
        assert (await lab.get(f"{lab.probes}/version"))[0] == 200, "the kubelet is no client"
