"""The report of a comparison."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from visitors import chromium

from mauve_metric import Comparison


class Page(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")]


def test_report_is_self_contained_and_escaped(told: Comparison, tmp_path: Path) -> None:
    path = told.save_report(tmp_path / "report.html")
    content, page = path.read_text(encoding="utf-8"), Page()
    page.feed(content)
    assert "script" not in page.tags and "link" not in page.tags and page.tags.count("img") == 2 + len(told.models)
    assert page.sources and all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert "<script" not in content and "&lt;script&gt;" in content
    assert told.models["b"].signature in html.unescape(content) and page.tags.count("details") == 2
    assert content.count("<main>") == content.count("</main>") == 1
    warned = content.split("<h2>Models")[0]  # the caveats come before the numbers, and are not folded
    assert "<details" not in warned and 'class="warning"' in warned
    with pytest.raises(ValueError, match=r"\.html"):
        told.save_report(tmp_path / "report.pdf")


@pytest.mark.browser
def test_no_rule_of_axe_is_broken_by_a_report(told: Comparison, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python")
    path = told.save_report(tmp_path / "report.html")
    with chromium() as browser:
        page = browser.new_context(bypass_csp=True).new_page()
        page.goto(path.as_uri())
        page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        page.evaluate((files(axe) / "axe.min.js").read_text(encoding="utf-8"))
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            found = page.evaluate("async () => (await axe.run({resultTypes: ['violations']})).violations")
            assert [(one["id"], one["nodes"][0]["html"][:160]) for one in found] == [], width
            assert page.evaluate("document.documentElement.scrollWidth") <= width
