"""The page of a cluster in a real browser: who is not known sees a form, and each sees what their token may see."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from tests.ui.fake_cluster import FakeCluster, a_service, fake_cluster
from tests.ui.shared_process import serving_all

pytestmark = pytest.mark.ui


@dataclass
class Open:
    """The page, before anybody signed in."""

    page: Page
    cluster: FakeCluster
    context: BrowserContext
    address: str
    troubles: list[str] = field(default_factory=list)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    cluster = FakeCluster(
        services=[a_service("chat"), a_service("secret", namespace="board")],
        rights={"anna": {"ml"}, "berta": {"", "ml", "board", "llmservice-system"}},
    )
    with fake_cluster(tmp_path, cluster) as kubeconfig, serving_all(kubeconfig) as address:
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()
        page.set_default_timeout(15_000)
        shown = Open(page, cluster, context, address)
        page.on("pageerror", lambda error: shown.troubles.append(str(error)))
        page.goto(address)
        yield shown
        context.close()


def sign_in(page: Page, token: str) -> None:
    page.get_by_label("Bearer token").fill(token)
    page.get_by_role("button", name="Look").click()


def test_nothing_is_asked_of_the_cluster_before_somebody_signed_in(opened: Open) -> None:
    expect(opened.page.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(opened.page.get_by_label("Bearer token")).to_be_focused()
    assert opened.cluster.asked == []


def test_a_token_that_nobody_knows_is_told_and_another_may_be_tried(opened: Open) -> None:
    sign_in(opened.page, "eve")
    expect(opened.page.get_by_role("status")).to_contain_text("does not know this token")
    sign_in(opened.page, "två rader")
    expect(opened.page.get_by_role("status")).to_contain_text("no bearer token")
    sign_in(opened.page, "Bearer berta")
    expect(opened.page.locator("tbody tr")).to_have_count(2)
    assert opened.troubles == []


def test_who_may_see_one_namespace_names_it_and_sees_no_other(opened: Open) -> None:
    page = opened.page
    sign_in(page, "anna")
    expect(page.get_by_role("alert")).to_contain_text("name one")
    page.get_by_label("Namespace", exact=True).fill("ml")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.get_by_role("alert")).to_be_hidden()
    page.get_by_role("link", name="ml/chat").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("ml/chat")
    page.get_by_role("link", name="LLMServices").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.goto(f"{opened.address}#/board/secret")
    expect(page.get_by_role("alert")).to_contain_text("forbidden")
    expect(page.locator("main")).not_to_contain_text("board/secret")


def test_it_stays_signed_in_over_a_reload_until_sign_out_and_in_this_tab_alone(opened: Open) -> None:
    page = opened.page
    sign_in(page, "berta")
    expect(page.locator("tbody tr")).to_have_count(2)
    page.reload()
    expect(page.locator("tbody tr")).to_have_count(2)
    other = opened.context.new_page()
    other.goto(opened.address)
    expect(other.get_by_label("Bearer token")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Bearer token")).to_be_visible()
    assert page.evaluate("sessionStorage.length + localStorage.length + document.cookie.length") == 0
    expect(page.locator("tbody tr")).to_have_count(0)


def test_a_token_that_ends_ends_the_view(opened: Open) -> None:
    sign_in(opened.page, "berta")
    expect(opened.page.locator("tbody tr")).to_have_count(2)
    opened.cluster.rights = {}
    expect(opened.page.get_by_label("Bearer token")).to_be_visible()
    expect(opened.page.locator("tbody tr")).to_have_count(0)


def test_a_proxy_that_says_who_looks_needs_no_form(opened: Open) -> None:
    def with_token(route: Route) -> None:
        route.continue_(headers={**route.request.headers, "authorization": "Bearer berta"})

    opened.context.route("**/api/**", with_token)
    opened.page.reload()
    expect(opened.page.locator("tbody tr")).to_have_count(2)
    expect(opened.page.get_by_role("button", name="Sign out")).to_be_hidden()


def test_no_barrier_is_found(opened: Open) -> None:
    before = Axe().run(opened.page)
    sign_in(opened.page, "berta")
    expect(opened.page.locator("tbody tr")).to_have_count(2)
    after = Axe().run(opened.page)
    assert (before.violations_count, after.violations_count) == (0, 0), (
        before.generate_report() + after.generate_report()
    )


def test_it_cannot_be_framed(opened: Open) -> None:
    page = opened.context.new_page()
    page.set_content(f'<iframe src="{opened.address}"></iframe>')
    page.wait_for_timeout(1000)
    assert all("Sign in" not in frame.content() for frame in page.frames)
