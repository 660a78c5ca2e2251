"""`python -m tests.ui.pictures`: the page as the docs show it, from the real browser."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.ui.conftest import Shown, opened
from tests.ui.fake_cluster import EXPLANATION, FakeCluster, a_pod, a_service

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
_READ = EXPLANATION["pods"][0]
_WAITS = "no node has room: 1 L4 is free of 2 asked for; add a node, or lower spec.gpu.count"


def main() -> None:
    """Write the pictures."""
    cluster = FakeCluster(
        services=[
            a_service("chat"),
            a_service("summaries"),
            a_service("code", reason="InsufficientAccelerators", message=_WAITS, ready=0),
        ],
        pods=[a_pod("chat-7c9f-1", created=_ago(7200)), a_pod("chat-7c9f-2", created=_ago(7000))],
        explanation={**EXPLANATION, "pods": [{**_READ, "name": "chat-7c9f-1"}, {**_READ, "name": "chat-7c9f-2"}]},
    )
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with opened(browser, Path(folder), cluster, width=1000, height=440) as shown:
            shown.page.screenshot(path=DOCS / "ui-services.png")
            shown.page.get_by_role("link", name="ml/chat").click()
            shown.page.wait_for_selector("figure")
            _rise(shown)
            shown.page.screenshot(path=DOCS / "ui-service.png", full_page=True)
        browser.close()


def _rise(shown: Shown) -> None:
    """The load rises: a third replica is asked for, and serves a while later."""
    cluster, why = shown.cluster, "14 requests wait: 3 replicas hold them"
    chat = cluster.services[0]["status"]
    cluster.pods.append(a_pod("chat-7c9f-3", ready=False, created=_ago(0)))
    decided = {"replicas": 3, "reason": "LoadRose", "message": why, "decidedAt": _ago(0)}
    cluster.events = [{"metadata": {"name": "e"}, "type": "Normal", "reason": "LoadRose", "message": why}]
    cluster.events[0]["lastTimestamp"] = _ago(0)
    for ready in (2, 3):
        chat |= {"readyReplicas": ready, "desiredReplicas": 3, "replicaSummary": f"{ready}/3", "autoscaling": decided}
        shown.page.wait_for_timeout(9000)
        cluster.pods[2] = a_pod("chat-7c9f-3", created=_ago(9))
    shown.page.wait_for_timeout(9000)


def _ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


if __name__ == "__main__":
    main()
