"""The committed reports and the ledger in a real Chromium: readable, accessible, silent, without network or script.

Needs the extra `browser` and a Chromium on the machine (or its path in DPAUDIT_CHROMIUM); skipped without them.
"""

import itertools
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
# What is folded has no boxes, and axe does not see it.
UNFOLDED = """document.querySelectorAll("article > details").forEach(each => { each.open = true })"""
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
        page.evaluate(UNFOLDED)
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
    assert not any(rows.nth(i).is_visible() for i in range(everything))
    page.locator("#show-verdict").select_option("refuted")
    shown = [i for i in range(everything) if rows.nth(i).is_visible()]
    assert 0 < len(shown) < everything
    assert all("refuted" in rows.nth(i).inner_text() for i in shown)


def test_a_paper_is_shown_alone_without_script(pages, visit):
    page, _, _ = visit(pages["ledger"], script=False)
    sections = page.locator("section.by-paper")
    assert sections.count() > 5
    page.locator("#show-paper").select_option(sections.nth(1).locator("h2").inner_text())
    assert [i for i in range(sections.count()) if sections.nth(i).is_visible()] == [1]


def test_two_clicks_lead_from_the_ledger_to_a_theorem(pages, visit):
    page, _, _ = visit(pages["ledger"], width=400, script=False)
    page.get_by_role("navigation", name="Papers").get_by_role("link", name="Yan, Li, Liu 2020").click()
    answer = page.get_by_role("link", name="Theorem 1 holds at 52 of 56 settings")
    assert answer.bounding_box()["y"] < 800, "the answer is to be on the screen that the first click leads to"
    answer.click()
    page.wait_for_url("**/yan2020.html#yan2020.theorem1-rr")
    page.locator("[id='yan2020.theorem1-rr']").wait_for(state="visible")


def test_a_region_map_leads_to_a_result_that_opens(pages, visit):
    page, _, _ = visit(pages["song2022"])
    link = page.locator("table.map a").first
    assert not link.is_visible(), "a claim's page begins with its answer; the rest is folded"
    page.locator("article > details", has=link).locator("summary").first.click()
    link.click()
    page.wait_for_url("**#result-*")
    page.locator(f"[id='{page.url.partition('#')[2]}'] summary").first.wait_for(state="visible")


TEXTS = """() => [...document.querySelectorAll("svg")].map(svg => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].map(each => [each.textContent, each.getBoundingClientRect()]);
  const outside = texts.filter(([, at]) => at.left < frame.left - 1 || at.right > frame.right + 1
    || at.top < frame.top - 1 || at.bottom > frame.bottom + 1).map(([text]) => `${svg.id}: ${text} is cut off`);
  const touching = texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1).map(([other]) => `${svg.id}: ${one} | ${other}`));
  return [...outside, ...touching];
})"""


def test_no_text_of_a_plot_touches_another(pages, visit):
    plots = 0
    for name, path in pages.items():
        page, _, _ = visit(path)
        page.evaluate(UNFOLDED)
        found = page.evaluate(TEXTS)
        assert not any(found), (name, [text for texts in found for text in texts])
        plots += len(found)
    assert plots > 200


def test_rows_are_cards_on_a_phone(pages, visit):
    page, _, _ = visit(pages["ledger"], width=400, script=False)
    page.locator("#show-paper").select_option("Yan, Li, Liu 2020")
    page.locator("#show-place").select_option("theorems, lemmas and the like")
    cells = [cell.bounding_box() for cell in page.locator("tr.row:visible").first.locator("th, td").all()]
    assert len(cells) == 4
    assert all(above["y"] + above["height"] <= below["y"] + 1 for above, below in itertools.pairwise(cells))
    assert all(cell["x"] >= 0 and cell["x"] + cell["width"] <= 400 for cell in cells)
