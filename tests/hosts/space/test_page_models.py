"""Several models in a browser: sets in, forest and tables out, a click on a bar or a text, files away."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from samples import HOSTILE, HUMAN, MODEL, NASTY, ngrams, write_jsonl
from visitors import compare, experts, hover, paste, unpacked, upload

import mauve_metric
from mauve_metric import compute_mauve
from mauve_metric.hosts.flags_and_labels import PAGE
from mauve_metric.report.charts.figure import COLORS, TOO_MUCH
from mauve_metric.report.wording.verdict_sentence import ranking_sentence

pytestmark = pytest.mark.browser


def shown_over(page: Any, figure: str, color: str, words: str, text: str = "") -> str:
    """The tooltip with these words over the first mark of a text in this colour."""
    marks = page.locator(f"#{figure} .role-mark path[fill='{color}']")
    found = "(marks, text) => marks.findIndex(mark => (mark.__data__.datum.text || '').startsWith(text))"
    mark = marks.nth(marks.evaluate_all(found, text))
    return str(hover(page, mark, words).inner_text())


def picked_by_click(page: Any, shown: str) -> None:
    """A click where the pointer is picks the bucket that is shown there."""
    found = re.search(r"bucket\s+(\d+)", shown)
    assert found is not None
    page.mouse.down()
    page.mouse.up()
    page.wait_for_function(f"document.querySelector('#bucket input').value.startsWith('bucket {found[1]}:')")


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_several_models_are_compared_and_a_click_shows_their_texts(page: Any, tmp_path: Path) -> None:
    texts = {"again": MODEL, "loud": [text.upper() for text in HUMAN[:24]], "odd": [*HOSTILE, *HUMAN[:17]]}
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "model", *(write_jsonl(tmp_path / f"{name}.jsonl", rows) for name, rows in texts.items()))
    page.fill("#model_2_name input", "again")
    page.keyboard.press("Enter")
    page.wait_for_selector("#model_problem :text('another set has this name')")
    page.fill("#model_3_name input", NASTY)
    page.keyboard.press("Enter")
    page.wait_for_selector("#model_problem :text('another set has this name')", state="detached")
    compare(page)
    wanted = mauve_metric.compare(
        p_text=HUMAN, models={"again": MODEL, "loud": texts["loud"], NASTY: texts["odd"]}, featurize_model_name=ngrams
    )
    assert page.inner_text(".mm-answer") == PAGE.respell(ranking_sentence(wanted))
    labels = page.locator(".mm-models a").all_inner_texts()
    assert [" ".join(label.split()) for label in labels] == [" ".join(name.split()) for name in wanted.ranking]
    experts(page)
    page.wait_for_selector("#tables tbody tr")
    cells = [row.split("\t") for row in page.locator("#tables tbody tr").all_inner_texts()]
    place = cells[0].index(wanted.ranking[0])  # behind the rank, where there is one
    assert [row[place] for row in cells[:3]] == list(wanted.ranking)
    assert cells[0][place + 1] == f"{wanted.models[wanted.ranking[0]].closeness:.4f}"
    differences = [*wanted.differences, *wanted.learned_differences]
    assert page.locator("#tables .mm-real").count() == sum(item.real for item in differences)
    assert (
        not page.is_visible("#clicked") and not page.is_visible("#picked") and page.locator("img[src=x]").count() == 0
    )

    page.locator(".mm-models tr", has=page.locator("a:text-is('again')")).locator("td").last.click(force=True)
    page.wait_for_selector("#table :text('again, on the buckets')")
    page.wait_for_function("document.activeElement.matches('.mm-picked a')")
    assert page.inner_text(".mm-whose") == page.inner_text(".mm-picked a") == "again"
    assert page.inner_text("#score strong") == f"{wanted.models['again'].closeness:.3f}"
    shown = shown_over(page, "contributions", TOO_MUCH, "bucket")  # filled too much
    picked_by_click(page, shown)

    # a text that would be a picture if it were not escaped
    color = COLORS[wanted.ranking.index(NASTY)]
    shown = shown_over(page, "text_map", color, "<img", NASTY)
    assert page.locator("img[src=x]").count() == 0
    picked_by_click(page, shown)
    page.wait_for_selector("#table p:has-text('<img')")  # the model of the text is picked
    assert "<img src=x" in page.inner_text("#bucket_texts")
    assert page.evaluate("location.hash") == "" and page.title() == "MAUVE"

    with page.expect_download() as download:
        page.click("#make_files")
    content = unpacked(download.value.path())
    report = content["report.html"].decode()
    assert report.startswith("<!DOCTYPE html>") and "What makes the gaps" in report and "<img src=x" not in report
    values = json.loads(content["mauve.json"])
    assert values["ranking"] == list(wanted.ranking) and values["models"].keys() == wanted.models.keys()
    assert values["models"] == json.loads(json.dumps(wanted.to_dict()["models"]))

    page.set_viewport_size({"width": 390, "height": 844})
    name = page.locator("#tables td.mm-name >> nth=0")
    left = name.bounding_box()["x"]
    wide = page.locator("#tables .mm-wide >> nth=0")
    assert wide.evaluate("part => { part.scrollLeft = 200; return part.scrollLeft; }") > 100
    assert (
        name.bounding_box()["x"] <= left and wide.bounding_box()["x"] <= name.bounding_box()["x"]
    )  # it stays in sight
    notes = page.locator("#score .mm-note").all()
    ends = [box["x"] + box["width"] for note in notes if (box := note.bounding_box()) is not None]
    assert ends and max(ends) <= 390  # no sentence is as wide as a table that scrolls


def test_sets_are_pasted_one_by_one_and_removed(page: Any) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    page.click("#paste_another")
    page.wait_for_selector("#model_1_preview li")
    page.wait_for_function("document.querySelector('#model_paste textarea').value === ''")
    page.fill("#model_paste textarea", "\n".join(HUMAN[:20]))
    page.keyboard.press("Tab")
    page.wait_for_selector("#model_2_preview :text('20 texts')")
    assert page.input_value("#model_2_name input") == "pasted-2"
    page.click("#model_2_remove")
    page.wait_for_selector("#model_2", state="hidden")
    page.wait_for_function("document.querySelector('#model_paste textarea').value === ''")
    assert compare(page) == f"{compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams).closeness:.3f}"
    assert page.locator(".mm-models").count() == 0 and not page.is_visible("#all_curves")
