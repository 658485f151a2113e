"""Every page of the site as a visitor sees it: in light and dark, on a desk and a phone, without the network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from visitors import chromium

axe = pytest.importorskip("axe_playwright_python")
pytestmark = pytest.mark.browser

BROKEN = """async ([rules, but]) => {
    const found = await axe.run({exclude: but}, {runOnly: rules, resultTypes: ['violations']});
    return found.violations.flatMap(({id, nodes}) => nodes.map(node => `${id}: ${node.html.slice(0, 160)}`));
}"""
# What moves is not looked at, and axe-core comes to a page that stands still.
STILL = "* {transition: none !important; animation: none !important; scroll-behavior: auto !important}"
WCAG, THEME = ["wcag2a", "wcag2aa"], ["color-contrast", "link-in-text-block"]
OF_WORDS = ["image-alt", "link-name", "list", "scrollable-region-focusable"]  # what a page's own words can break
OF_WORDS += ["aria-dialog-name", "empty-table-header"]  # and what its template can
# Colours are the theme's, and these pages have every part that it colours: tabs, code, tables, notes, formulas.
COLOURED = ("start.html", "why_low.html", "mathematics.html", "encoders.html", "api/scores.html")
# Looked at as a whole, in dark too; of the others what these have many times is left out.
WHOLE = ("index.html", "errors.html", "api/preferences.html")
ALIKE = ["pre", "math", ".md-nav", ".md-header", ".md-footer", "tbody tr:nth-child(n+3)", "li:nth-child(n+4)"]
ALIKE += ["h2:nth-of-type(n+5) ~ *", "h3:nth-of-type(n+5) ~ *", ".doc-object:nth-of-type(n+3)"]

INDEX = "search/search_index.json"


@pytest.fixture(scope="module")
def context() -> Iterator[Any]:
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(600_000)
        context.add_init_script(path=str(files(axe) / "axe.min.js"))
        yield context


@pytest.fixture
def page(context: Any, site: Path, address: str) -> Iterator[Any]:
    """A window, which ends the test if it saw an error or asked another host for something.

    Every page that is opened takes in the whole index of the search, which is empty here."""
    page = context.new_page()
    index = json.loads((site / INDEX).read_text(encoding="utf-8")) | {"docs": []}
    page.route(f"**/{INDEX}", lambda route: route.fulfill(json=index))
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"{page.url}: {error}"))
    page.on("console", lambda line: complaints.append(f"{page.url}: {line.text}") if line.type == "error" else None)
    page.on("request", lambda sent: None if sent.url.startswith((address, "data:")) else complaints.append(sent.url))
    page.on("response", lambda got: complaints.append(f"{got.status}: {got.url}") if got.status >= 400 else None)
    yield page
    page.close()
    assert complaints == []


def pages_of(site: Path) -> list[str]:
    """The pages that are written for the site, from its root."""
    found = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    return [path for path in found if not path.startswith("repository/")]


def broken(page: Any, rules: list[str], *but: str) -> list[str]:
    """The rules of axe-core that a page breaks, but for some parts."""
    page.add_style_tag(content=STILL)
    found: list[str] = page.evaluate(BROKEN, [rules, list(but)])
    return found


def test_every_page_on_a_desk_and_a_phone(page: Any, site: Path, address: str) -> None:
    """axe-core's rules, nothing that scrolls sideways, no error, no request to another host."""
    pages = pages_of(site)
    assert len(pages) > 20 and {*COLOURED} < {*pages}
    found = []
    for name in pages:
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address + name)
        if name in COLOURED or not name.startswith("api/"):  # which one template makes
            rules = [*OF_WORDS, *(THEME if name in COLOURED else [])]
            found += [f"{name}: {rule}" for rule in broken(page, rules, *ALIKE)]
        if name in COLOURED:
            found += [f"{name}: {rule}" for rule in broken(page, ["landmark-unique"])]
        page.set_viewport_size({"width": 390, "height": 844})
        wide = page.evaluate("document.documentElement.scrollWidth")
        found += [f"{name} scrolls sideways on a phone: {wide}"] if wide > 390 else []
    assert found == []


@pytest.mark.parametrize("name", WHOLE)
def test_a_whole_page_in_light_and_dark(page: Any, address: str, name: str) -> None:
    page.goto(address + name)
    assert broken(page, WCAG) == []
    page.emulate_media(color_scheme="dark")
    page.reload()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground != "rgb(255, 255, 255)"
    assert broken(page, THEME) == []


def test_the_leaderboard_fits_on_a_desk(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(address + "leaderboard.html")
    assert page.evaluate("(part => part.scrollWidth - part.clientWidth)(document.querySelector('.wide'))") <= 1


def test_the_figure_of_the_home_page_keeps_its_size_on_a_phone(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address + "index.html")
    sizes = page.evaluate(
        "(part => [part.clientWidth / part.naturalWidth, part.getBoundingClientRect().right])"
        "(document.querySelector('img[src$=\"score-light.svg#only-light\"]'))"
    )
    assert sizes[0] > 0.95 and sizes[1] <= 390


def test_formulas_have_the_font_of_the_site(page: Any, address: str) -> None:
    page.goto(address + "mathematics.html")
    page.evaluate("document.fonts.ready.then(() => true)")
    fonts = page.evaluate("[...document.fonts].map(font => [font.family.replaceAll('\"', ''), font.status])")
    assert fonts == [["STIX Two Math", "loaded"]]


ANSWERS = {
    "compute_mauve": "api/scores.html",
    "p-value": "questions.html",
    "batch size": "questions.html",
    "out of memory": "questions.html",
    "gpt2-large download": "questions.html",
    "Ray": "questions.html",
    "polars": "recipes.html",
}


def test_a_search_finds_help_first(page: Any, address: str) -> None:
    from playwright.sync_api import TimeoutError

    page.unroute(f"**/{INDEX}")
    first = page.locator(".md-search-result__item a").first
    links = "parts => parts.map(part => part.href)"

    def results(words: str) -> list[str]:
        page.goto(address + "index.html")  # anew: no results of other words
        for _ in range(30):  # the page listens to its field when its script and the index are there
            page.fill(".md-search__input", words)
            page.press(".md-search__input", "End")  # one query, of the whole words
            with suppress(TimeoutError):
                first.wait_for(timeout=4000)
                return [*page.eval_on_selector_all(".md-search-result__item a", links)]
        raise AssertionError(page.inner_text(".md-search__output"))

    found = {words: results(words) for words in ANSWERS}
    assert {words: links[0].removeprefix(address).split("?")[0] for words, links in found.items()} == ANSWERS
    left_out = ("repository/", "experiments.html")
    assert [link for links in found.values() for link in links if any(part in link for part in left_out)] == []
