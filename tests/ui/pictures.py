"""`python -m tests.ui.pictures`: the page as the docs show it, from the real browser."""

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.ui.conftest import opened
from tests.ui.fake_cluster import FakeCluster, a_service

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
_WAITS = "no node has room: 1 L4 is free of 2 asked for; add a node, or lower spec.gpu.count"


def main() -> None:
    """Write the pictures."""
    services = [
        a_service("chat"),
        a_service("summaries"),
        a_service("code", reason="InsufficientAccelerators", message=_WAITS, ready=0),
    ]
    events = [
        {
            "metadata": {"name": "e"},
            "type": "Normal",
            "reason": "LoadRose",
            "message": "2 → 3 replicas: 14 requests wait",
            "lastTimestamp": "2026-01-01T00:00:00Z",
        }
    ]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with opened(
            browser, Path(folder), FakeCluster(services=services, events=events), width=1000, height=420
        ) as shown:
            shown.page.screenshot(path=DOCS / "ui-services.png")
            shown.page.get_by_role("link", name="ml/chat").click()
            shown.page.wait_for_selector("figure")
            chat = services[0]["status"]
            for ready, desired in ((2, 3), (3, 3)):
                chat |= {"readyReplicas": ready, "desiredReplicas": desired, "replicaSummary": f"{ready}/{desired}"}
                chat["autoscaling"] |= {"replicas": desired, "reason": "LoadRose", "message": "14 requests wait"}
                shown.page.wait_for_timeout(4000)
            shown.page.screenshot(path=DOCS / "ui-service.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
