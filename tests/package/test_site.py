"""The built documentation in a browser: it works offline, renders formulas and fits on a phone."""

import html.parser
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

pytest.importorskip("furo")
pytest.importorskip("myst_nb")
pytest.importorskip("playwright.sync_api")

pytestmark = [pytest.mark.slow, pytest.mark.torch]  # the API pages import all of the package

from tests.package.test_pages import SEARCHED  # noqa: E402

ROOT = Path(__file__).parents[2]
WIDTHS = (390, 1280)  # a phone and a desktop
NOT_WRITTEN_BY_US = {"genindex.html", "py-modindex.html", "search.html"}


@pytest.fixture(scope="module")
def site():
    """The site as `make docs` builds it; what that has built already is not built again."""
    command = ["make", "docs", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return ROOT / "docs" / "_build" / "html"


class Parts(html.parser.HTMLParser):
    """Ids, links and pictures of a page."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.pictures = {""}, [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.ids.add(found.get("id", ""))
        if tag == "img":
            self.pictures.append((found.get("src", ""), found.get("alt", "")))
        for name in ("href", "src"):
            if found.get(name):
                self.links.append(found[name])


def pages_of(site):
    """Every page that is written by hand or made from docstrings."""
    found = [path for path in sorted(site.rglob("*.html")) if "_modules" not in path.parts]
    return [path for path in found if path.name not in NOT_WRITTEN_BY_US]


def test_pictures_have_a_text_and_links_lead_somewhere(site):
    parts = {path.resolve(): Parts(path) for path in site.rglob("*.html")}
    nameless = {
        f"{path.name}: {source[:60]}"
        for path, part in parts.items()
        for source, alt in part.pictures
        # The report pages name a sample by its id, which may be a number.
        if len(alt.strip()) < (1 if "reports" in path.parts else 10)
        and path.name not in NOT_WRITTEN_BY_US
    }
    assert nameless == set(), "give these images alternative text"
    dead = set()
    for path, part in parts.items():
        for link in part.links:
            where = urlsplit(link)
            if where.scheme or where.netloc:
                continue
            target = (path.parent / unquote(where.path)).resolve() if where.path else path
            anchor = unquote(where.fragment)
            if not target.exists() or (target in parts and anchor not in parts[target].ids):
                dead.add(f"{path.name}: {link}")
    assert dead == set()


def opened(browser, path, site):
    """A page with all formulas rendered, and what it asked for or printed."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    heard = []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: heard.append(request.url) if leaves(request) else None)
    page.on("requestfailed", lambda request: heard.append(f"failed: {request.url}"))

    def leaves(request):
        return not request.url.startswith(("data:", site.as_uri()))

    page.goto(path.as_uri())
    if page.query_selector(".math"):
        page.evaluate("() => MathJax.startup.promise")
    return page, heard


def test_pages_ask_for_nothing_render_formulas_and_fit(browser, site):
    formulas, wrong = 0, {}
    for path in pages_of(site):
        page, heard = opened(browser, path, site)
        found = page.evaluate(
            """() => ({
                formulas: document.querySelectorAll(".math").length,
                raw: [...document.querySelectorAll(".math")]
                    .filter(math => !math.querySelector("mjx-container svg")).length,
                errors: document.querySelectorAll(
                    "[data-mjx-error], mjx-container [fill='red']"  // an unknown macro is red
                ).length,
                pictures: [...document.images]
                    .filter(image => image.loading != "lazy" && !image.naturalWidth).length,
            })"""
        )
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            found[f"wider than {width}"] = page.evaluate("document.body.scrollWidth") - width
        page.close()
        formulas += found.pop("formulas")
        problems = {name: count for name, count in found.items() if count > 0}
        if problems or heard:
            wrong[path.relative_to(site).as_posix()] = (problems, heard)
    assert wrong == {}
    assert formulas > 300


@pytest.mark.parametrize(("query", "page"), SEARCHED.items())
def test_search_finds_the_page_first(browser, site, query, page):
    found = browser.new_page()
    found.goto(f"{(site / 'search.html').as_uri()}?q={query}")
    found.wait_for_selector("#search-results li a")
    found.wait_for_function(
        "!document.querySelector('#search-progress')?.textContent.endsWith('.')"
    )
    first = found.locator("#search-results li a").first.get_attribute("href")
    found.close()
    assert Path(urlsplit(first).path).stem == page
