"""The report of a comparison, and what all results have: equality."""

from __future__ import annotations

import copy
import html
import pickle
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from visitors import chromium

from mauve_metric import Comparison, FeatureSet, compare, compute_mauve, explain
from mauve_metric.results.methods import Result


class Page(HTMLParser):
    """The tags and addresses of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.sources: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href") or name.startswith("on")]


@pytest.mark.more
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


def test_a_frame_has_the_numbers_of_the_table(told: Comparison) -> None:
    pandas = pytest.importorskip("pandas")
    frame = told.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["model"]) == list(told.ranking)
    assert frame["closeness"].tolist() == [told.models[name].closeness for name in told.ranking]
    assert len(told.to_frame("differences")) == len(told.differences)
    result = told.models["b"]
    scores = result.to_frame().set_index("name" if "name" in result.to_frame() else "score")
    assert result.closeness in scores["value"].tolist()
    with pytest.raises(ValueError, match="table must be one of"):
        told.to_frame("other")


@pytest.mark.more
def test_a_notebook_shows_the_first_screen_and_the_figure(told: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Page()
    page.feed(told._repr_html_())
    assert page.tags == ["pre", "img"] and page.sources[0].startswith("data:image/svg+xml;base64,")
    assert html.escape(str(told)) in told._repr_html_()

    def missing() -> None:
        raise ImportError("no such package")

    monkeypatch.setattr("mauve_metric.report.html_and_images.import_vl_convert", missing)
    assert told._repr_html_() == f"<pre>{html.escape(str(told))}</pre>"


def test_a_result_is_equal_to_its_copies_and_to_no_other() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 40, 3))
    sides: dict[str, Any] = {"p_features": rows[0], "q_features": rows[1]}
    made: dict[str, Callable[..., Result]] = {
        "score": lambda **options: compute_mauve(**sides, **options),
        "comparison": lambda **options: compare(p_features=rows[0], models={"a": rows[1], "b": rows[2]}, **options),
        "explanation": lambda **options: explain(**sides, **options),
    }
    for make in made.values():
        result, other = make(), make(seed=1)
        assert result == copy.deepcopy(result) == pickle.loads(pickle.dumps(result)) and result in [other, result]
        assert result != other and result != 1
    human = FeatureSet(rows[0])
    assert human == human and human not in [FeatureSet(rows[0])] and human in {human: 1}
    assert human.digest == FeatureSet(rows[0]).digest
