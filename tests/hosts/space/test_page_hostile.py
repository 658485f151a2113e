"""Texts and names that are code elsewhere: the page and the judge show them as texts, and run none of them."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from samples import CODE, HUMAN, ngrams, write_jsonl
from visitors import LIMITS, archived, close, compare, hover, measure, press, upload, visitor

pytest.importorskip("gradio")

WIDE = replace(LIMITS, texts=60, characters=30_000, total_texts=300, total_megabytes=8)
TEXTS = [f"{text} {number}" for number, text in enumerate(CODE * 3)]
NAMES = ["<img src=x onerror='window.hit = 4'>", "=1+1;@2 ${7*7} `a`|b"]
_TAGS_THAT_ACT = {"script", "img", "iframe", "object", "embed", "svg", "style", "link", "base", "form", "meta"}


class Elements(HTMLParser):
    """What a browser would make of a piece of HTML and should not."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name.startswith("on") or (name in ("href", "src") and not re.match(r"#|\./|data:image", value or "")):
                self.wrong.append(f"{tag} {name}={value}")
        if tag in _TAGS_THAT_ACT:
            self.wrong.append(tag)


def wrong_in(markup: str) -> list[str]:
    """Elements, addresses and templates in HTML that came from texts."""
    elements = Elements()
    elements.feed(markup)
    return elements.wrong + re.findall(r"[$]\{|\{\{|[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]", markup)


def strings_of(value: Any) -> Iterator[str]:
    """Every string in the value of a part of the page."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings_of(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from strings_of(inner)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every part of a page with two models of hostile texts and names, and the files to take away."""
    from mauve_metric.hosts.space.session.scoring import Encoders
    from mauve_metric.hosts.space.view import takeaway
    from mauve_metric.hosts.space.view.handlers import Handlers

    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "gradio"))
        patch.setattr(takeaway, "save_chart", lambda chart, path: path.write_text("drawn"))  # other tests draw
        desk = Handlers(WIDE, ["ngrams"], Encoders({"ngrams": ngrams}))
        parts = desk.take_file(write_jsonl(folder / "human.jsonl", HUMAN), visitor(desk))
        for number, name in enumerate(NAMES):
            parts |= desk.add_files([write_jsonl(folder / f"m{number}.jsonl", TEXTS[number:])], visitor(desk))
            parts |= desk.rename_model(number, name, visitor(desk))
        parts |= press(desk) | measure(desk, ("lexical",))
        for name in ("0", "1"):
            parts |= {f"{key} of {name}": value for key, value in desk.pick_model(name, visitor(desk)).items()}
        parts |= archived(desk)
        close(desk)
    return parts


@pytest.mark.slow
def test_every_part_of_the_page_shows_texts_as_texts(shown: dict[str, Any]) -> None:
    html = [(name, text) for name, value in shown.items() for text in strings_of(value) if text.startswith("<")]
    assert {"score", "table", "pair", "warnings", "bucket_texts", "measures", "human_preview"} <= {*dict(html)}
    for name, text in html:
        assert name == "model_1_name" or wrong_in(text) == [], name
        assert "x" * 5000 not in text, name


def test_the_commands_of_the_page_quote_names(
    shown: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve_metric.hosts.cli.inputs_and_outputs import named_file

    call = next(node for node in ast.walk(ast.parse(shown["python"])) if isinstance(node, ast.Dict))
    assert [ast.literal_eval(key) for key in call.keys if key is not None] == NAMES
    monkeypatch.chdir(tmp_path)
    for file in ("m0.jsonl", "m1.jsonl"):
        Path(file).touch()
    words = [word for word in shlex.split(shown["shell"]) if re.search(r"m\d.jsonl", word)]
    assert [named_file(word) for word in words] == [(name, f"m{number}.jsonl") for number, name in enumerate(NAMES)]


def test_the_archive_holds_no_formula_and_no_element(shown: dict[str, Any]) -> None:
    files = {name: shown[name].decode() for name in shown if name.endswith((".csv", ".html", ".json"))}
    tables = [text for name, text in files.items() if name.endswith(".csv")]
    assert tables and {"report.html", "mauve.json"} <= {*files}
    for text in tables:
        assert [
            cell for row in csv.reader(io.StringIO(text)) for cell in row if re.match(r"[=+@\t]|-[^\d]", cell)
        ] == []
    assert not re.search(r"<img src=x|<script>(alert|window)|<svg onload|</script><script>window", files["report.html"])
    assert {*json.loads(files["mauve.json"])["models"]} == {*NAMES}


def test_judges_get_texts_as_texts_and_tables_without_formulas(tmp_path: Path) -> None:
    from mauve_metric.hosts.space.session.judgings import ANSWERS, deal, table
    from mauve_metric.hosts.space.session.uploads import TextSet
    from mauve_metric.hosts.space.view.judging import round_shown
    from mauve_metric.hosts.space.view.markup import render

    models = {name: TextSet("it", f"{name}.txt", [f"{text}. Then {text}." for text in CODE]) for name in NAMES}
    human = TextSet("it", "@SUM(1).txt", [f"A person said {number}. And more." for number in range(len(CODE))])
    judging = deal("=1+1", human, models)
    while judging.rounds:
        this = judging.rounds[0]
        assert wrong_in(round_shown(this, 2) + round_shown(this, 0, True)) == []
        judging.guess(True, "=2")
    while judging.pairs:
        assert wrong_in(render("two_texts", texts=judging.pairs[0].shown)) == []
        judging.rate(next(iter(ANSWERS)))
    for rows in (judging.boundaries, judging.preferences):
        cells = [cell for row in csv.reader(io.StringIO(table(rows))) for cell in row]
        assert cells and [cell for cell in cells if re.match(r"[=+@\t]|-[^\d]", cell)] == []


_RAN = (
    "window.hit !== undefined || [...document.querySelectorAll('img[src=x], svg[onload], [href^=javascript]')].length"
)


@pytest.mark.browser
def test_no_text_runs_in_a_browser(page: Any, tmp_path: Path) -> None:
    texts = [f"{text[:190]} {number}" for number, text in enumerate([*CODE, *NAMES] * 2)]
    upload(page, "human", write_jsonl(tmp_path / "<b>human.jsonl", [*HUMAN, *texts[:5]]))
    upload(page, "model", write_jsonl(tmp_path / "<img src=x onerror=window.hit=5>.jsonl", texts))
    compare(page)
    hover(page, page.locator("#text_map .mark-symbol.role-mark path").last)
    assert not page.evaluate(_RAN)


@pytest.mark.browser
def test_no_text_runs_in_the_browser_of_a_judge(context: Any, served: Any, tmp_path: Path) -> None:
    page = context.new_page()
    page.goto(f"{served.local_url}judge")
    texts = [f"{text[:90]}. Then {text[:90]}" for text in [*CODE, *NAMES]]
    for box, name, content in (("judge_human", "human", HUMAN[:15]), ("judge_models", "<i onclick=x>", texts)):
        path = write_jsonl(tmp_path / f"{name}.jsonl", [f"{text} And on." for text in content])
        page.set_input_files(f"#{box} input[type=file]", path)
        page.wait_for_selector(f"#{box} :text('.jsonl')")
    page.fill("#rater textarea, #rater input", NAMES[0])
    page.click("#judge_start")
    for number in range(1, 6):
        page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
        page.click("#machine")
        page.wait_for_selector(f"#boundary_save:has-text('({number} judged)')")
        assert not page.evaluate(_RAN)
    page.close()
