"""The report of a comparison."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from pathlib import Path

import pytest

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
    assert told.models["b"].signature in html.unescape(content) and page.tags.count("details") == 3
    assert content.count("<main>") == content.count("</main>") == 1 and "<details open><summary>" in content
    with pytest.raises(ValueError, match=r"\.html"):
        told.save_report(tmp_path / "report.pdf")
