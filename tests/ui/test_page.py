"""The page in a real browser: a fleet, one service, keys alone, an operator that is away, hostile texts."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.ui.conftest import Shown, opened
from tests.ui.fake_cluster import EXPLANATION, FakeCluster, a_fleet, a_service

pytestmark = pytest.mark.ui
HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>\u202egnp'


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    services = [
        a_service("chat"),
        a_service("broken", reason="ImagePullFailed", message="no such image: check it", ready=0),
    ]
    with opened(browser, tmp_path, FakeCluster(services=services)) as page:
        yield page


def test_it_lists_those_first_that_need_a_look(shown: Shown) -> None:
    rows = shown.page.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("ml/broken")
    expect(rows.first).to_contain_text("no such image: check it")
    expect(shown.page.locator("#count")).to_have_text("2 services, 1 not ready.")
    expect(shown.page.locator("#operator")).to_have_text("led by operator-0")


def test_a_service_shows_why_what_and_how_it_starts(shown: Shown) -> None:
    page = shown.page
    page.get_by_role("link", name="ml/chat").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ml/chat")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    expect(page.get_by_role("region", name="Why that many")).to_contain_text("14 requests wait: 3 replicas hold them")
    expect(page.get_by_role("table", name="Steps of the decision")).to_contain_text("5.1 requests a second come in")
    expect(page.get_by_role("table", name="What was read")).to_contain_text("81 %")
    expect(page.get_by_role("table", name="Replicas")).to_contain_text("gpu-a")
    expect(page.get_by_role("table", name="Computed values")).to_contain_text("as many as the KV cache holds")
    expect(page.get_by_role("img", name=re.compile("Last start: image 30 s, load 80 s, warm-up 20 s"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("now 2 desired, 2 ready, 2 decided"))).to_be_visible()


def test_it_is_live(shown: Shown) -> None:
    page, chat = shown.page, shown.cluster.services[0]
    page.get_by_role("link", name="ml/chat").click()
    expect(page.get_by_role("img", name=re.compile("2 ready"))).to_be_visible()
    chat["status"] |= {"readyReplicas": 1, "replicaSummary": "1/2"}
    chat["status"]["autoscaling"] |= {
        "replicas": 3,
        "reason": "LoadRose",
        "message": "more",
        "decidedAt": "2026-01-01T00:01:00Z",
    }
    expect(page.get_by_role("img", name=re.compile("now 2 desired, 1 ready, 3 decided"))).to_be_visible()
    expect(page.get_by_role("table", name="Decisions").locator("tbody tr")).to_have_count(2)


def test_keys_alone_are_enough(shown: Shown) -> None:
    page = shown.page
    for expected in ("Skip to the content", "LLMServices"):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == expected
    page.keyboard.press("Tab")
    page.keyboard.type("broken")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("#wanted")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("ml/broken")
    page.go_back()
    expect(page.locator("#wanted")).to_have_value("broken")


@pytest.mark.parametrize("dark", [False, True])
def test_no_barrier_is_found(browser: Browser, tmp_path: Path, dark: bool) -> None:
    services = [a_service("chat"), a_service("broken", reason="ImagePullFailed", ready=0)]
    with opened(browser, tmp_path, FakeCluster(services=services), dark=dark) as shown:
        lists = Axe().run(shown.page)
        shown.page.get_by_role("link", name="ml/chat").click()
        shown.page.wait_for_selector("figure")
        one = Axe().run(shown.page)
        assert (lists.violations_count, one.violations_count) == (0, 0), lists.generate_report() + one.generate_report()


def test_a_narrow_window_does_not_scroll_sideways(shown: Shown) -> None:
    shown.page.set_viewport_size({"width": 360, "height": 740})
    shown.page.get_by_role("link", name="ml/chat").click()
    shown.page.wait_for_selector("figure")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_words_without_end_do_not_push_a_column_out_of_the_window(browser: Browser, tmp_path: Path) -> None:
    service = a_service("chat", reason="ImagePullFailed", message="x" * 10_000, ready=0)
    service["spec"]["model"]["uri"] = f"hf://{'y' * 900}"
    with opened(browser, tmp_path, FakeCluster(services=[service])) as shown:
        table = shown.page.locator(".wide")
        assert table.evaluate("(each) => each.scrollWidth - each.clientWidth") == 0


def test_a_thousand_services_are_paged_and_found_at_once(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, FakeCluster(services=a_fleet(1000))) as shown:
        page = shown.page
        expect(page.locator("#count")).to_have_text("1,000 services, 100 not ready.")
        expect(page.locator("tbody tr")).to_have_count(50)
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("navigation")).to_contain_text("page 2 of 20")
        expect(page.get_by_role("button", name="Next")).to_be_focused()
        page.locator("#wanted").fill("chat-0777")
        expect(page.locator("tbody tr")).to_have_count(1)
        page.locator("#wanted").fill("")
        page.get_by_label("only those that are not ready").check()
        expect(page.locator("#count")).to_contain_text("100 found")
        assert (
            page.evaluate("fetch('api/services').then((answer) => answer.text()).then((text) => text.length)") < 60_000
        )


def test_an_operator_that_is_away_is_told_and_comes_back(shown: Shown) -> None:
    shown.cluster.leader_seen = 600
    alert = shown.page.get_by_role("alert")
    expect(alert).to_contain_text("the operator is away for 60")
    expect(shown.page.locator("tbody tr")).to_have_count(2)
    shown.cluster.leader_seen = 0
    expect(alert).to_be_hidden()


def test_a_cluster_that_is_away_leaves_the_last_list(shown: Shown) -> None:
    shown.cluster.answers = False
    expect(shown.page.get_by_role("alert")).to_contain_text("The cluster does not answer")
    expect(shown.page.locator("tbody tr")).to_have_count(2)
    shown.cluster.answers = True
    expect(shown.page.get_by_role("alert")).to_be_hidden()


def test_a_cluster_that_never_answered_is_no_empty_one(browser: Browser, tmp_path: Path) -> None:
    with opened(browser, tmp_path, FakeCluster(answers=False)) as shown:
        expect(shown.page.get_by_role("alert")).to_contain_text("The cluster does not answer")
        expect(shown.page.locator("#count")).to_have_text("Nothing was read yet.")


def test_what_strangers_wrote_is_shown_and_not_run(browser: Browser, tmp_path: Path) -> None:
    hostile = a_service("chat", reason="ImagePullFailed", message=HOSTILE)
    hostile["spec"]["model"]["uri"] = f"hf://{HOSTILE}"
    hostile["status"]["plan"]["defaults"] = [{"field": HOSTILE, "value": HOSTILE, "reason": HOSTILE}]
    events = [{"metadata": {"name": "e"}, "type": "Warning", "reason": HOSTILE, "message": HOSTILE * 100}]
    cluster = FakeCluster(
        services=[hostile], events=events, explanation={**EXPLANATION, "decision": {"message": HOSTILE}}
    )
    with opened(browser, tmp_path, cluster) as shown:
        expect(shown.page.locator("tbody")).to_contain_text("<script>")
        shown.page.get_by_role("link", name="ml/chat").click()
        expect(shown.page.get_by_role("table", name="Events")).to_contain_text("\\u202egnp")
        time.sleep(0.5)
        assert shown.page.title() == "ml/chat"
        assert shown.page.locator("main img, main script").count() == 0
        assert shown.troubles == []


def test_nothing_is_loaded_from_elsewhere_and_nothing_complains(shown: Shown) -> None:
    shown.page.get_by_role("link", name="ml/chat").click()
    shown.page.wait_for_selector("figure")
    assert {url.startswith(shown.address) for url in shown.asked} == {True}
    assert shown.troubles == []


def test_many_looks_are_one_list(shown: Shown) -> None:
    before = shown.cluster.lists
    shown.page.evaluate("Promise.all(Array.from({ length: 50 }, () => fetch('api/services')))")
    assert shown.cluster.lists - before <= 2
