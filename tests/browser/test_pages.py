"""The committed reports and the ledger in a real Chromium: readable, accessible, silent, without network or script.

Needs the extra `browser` and a Chromium on the machine (or its path in DPAUDIT_CHROMIUM); skipped without them.
"""

import os
import shutil
from pathlib import Path

import pytest

from dpaudit.claims.record import read_record
from dpaudit.reporting import html_files

playwright = pytest.importorskip("playwright.sync_api", reason="install the extra `browser`")
axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="install the extra `browser`")

REPORTS = Path(__file__).parents[2] / "reports"
CHROMIUM = os.environ.get("DPAUDIT_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
# The browser is to reach nothing but the file that it is given.
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
MOST_BYTES = 2_500_000

pytestmark = [pytest.mark.slow, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every page, rendered anew from the committed records."""
    folder = tmp_path_factory.mktemp("pages")
    texts = html_files({path.stem: read_record(path) for path in sorted(REPORTS.glob("*.json"))})
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {"ledger" if name == "index.html" else name.removesuffix(".html"): folder / name for name in texts}


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser):
    """Open a page; return it with what it logged and what it asked for."""
    contexts = []

    def open_page(path, *, width=1280, scheme="light", script=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=script
        )
        contexts.append(context)
        page, logged, asked = context.new_page(), [], []
        page.on("console", lambda message: logged.append(message.text))
        page.on("pageerror", lambda error: logged.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        return page, logged, asked

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_pages_are_accessible_and_silent(pages, visit, width, scheme):
    for name, path in pages.items():
        page, logged, asked = visit(path, width=width, scheme=scheme)
        violations = [(v["id"], v["nodes"][0]["html"][:120]) for v in axe.Axe().run(page).response["violations"]]
        assert not violations, (name, violations)
        assert not logged, (name, logged)
        assert asked == [path.as_uri()], (name, asked)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.screenshot()[:4] == b"\x89PNG"


def test_pages_are_small(pages):
    sizes = {name: path.stat().st_size for name, path in pages.items()}
    assert max(sizes.values()) <= MOST_BYTES, sizes


def test_the_ledger_filters_without_script(pages, visit):
    page, _, _ = visit(pages["ledger"], script=False)
    rows = page.locator("tr.row")
    everything = rows.count()
    assert all(rows.nth(i).is_visible() for i in range(everything))
    page.get_by_label("refuted", exact=True).check()
    shown = [i for i in range(everything) if rows.nth(i).is_visible()]
    assert 0 < len(shown) < everything
    assert all("refuted" in rows.nth(i).inner_text() for i in shown)


def test_a_paper_is_shown_alone_without_script(pages, visit):
    page, _, _ = visit(pages["ledger"], script=False)
    sections = page.locator("section.by-paper")
    assert sections.count() > 5
    name = sections.nth(1).locator("h2").inner_text()
    page.get_by_role("radio", name=name, exact=True).check()
    assert [i for i in range(sections.count()) if sections.nth(i).is_visible()] == [1]


def test_a_link_of_the_ledger_leads_to_the_claim(pages, visit):
    page, _, _ = visit(pages["ledger"])
    page.locator("tr.row a").first.click()
    page.wait_for_url("**#claim-*")
    page.locator(f"[id='{page.url.partition('#')[2]}']").wait_for(state="visible")


def test_a_region_map_leads_to_a_result_that_opens(pages, visit):
    page, _, _ = visit(pages["song2022"])
    page.locator("table.map a").first.click()
    page.wait_for_url("**#result-*")
    page.locator(f"[id='{page.url.partition('#')[2]}'] summary").first.wait_for(state="visible")
