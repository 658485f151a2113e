"""The page of judgements in a browser: two rounds and a pair, and the downloaded tables in the commands."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from visitors import foreign

from mauve_metric.hosts.cli.main import main

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_rounds_and_a_pair_by_keyboard_become_tables_for_the_commands(
    context: Any, served: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {}
    for name in ("human", "m"):
        files[name] = tmp_path / f"{name}.txt"
        texts = [" ".join(f"{name.title()} {row} says {place}." for place in range(4)) for row in range(6)]
        files[name].write_text("\n".join(texts), encoding="utf-8")
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda sent: complaints.append(sent.url) if foreign(sent.url, served.local_url) else None)
    page.goto(f"{served.local_url}judge")
    page.wait_for_selector("#judge_start")
    assert page.locator(".nav-holder").is_hidden() and not page.locator("#machine").is_enabled()
    for box, name in (("judge_human", "human"), ("judge_models", "m")):
        page.set_input_files(f"#{box} input[type=file]", files[name])
        page.wait_for_selector(f"#{box} :text('{name}')")
    page.get_by_label("Your name or a code, for the table").fill("ann")
    page.locator("#judge_start").press("Enter")
    for round in (1, 2):
        page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
        page.locator("#human").press("Enter")
        page.wait_for_selector("#boundary_shown :text('Sentence 3 of')")
        assert page.locator("#boundary_shown li").count() == 3
        page.locator("#machine").press("Enter")
        page.wait_for_selector(f"#boundary_save:has-text('({round} judged)')")
        assert "points: " in page.inner_text("#boundary_said")
    with page.expect_download() as download:
        page.click("#boundary_save")
    download.value.save_as(tmp_path / download.value.suggested_filename)
    page.click("button[role=tab]:has-text('Compare two')")
    page.wait_for_selector("#pair_shown h2")
    page.locator("#answer_2a").press("Enter")
    page.wait_for_selector("#pair_save:has-text('(1 judged)')")
    with page.expect_download() as download:
        page.click("#pair_save")
    download.value.save_as(tmp_path / download.value.suggested_filename)
    page.close()
    assert complaints == []

    rows = list(csv.DictReader((tmp_path / "boundaries.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["guess"] for row in rows] == ["3", "3"] and {row["annotator"] for row in rows} == {"ann"}
    assert main(["boundaries", str(tmp_path / "boundaries.csv"), "--by", "words", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rounds"] == 2
    arguments = [str(tmp_path / "preferences.csv"), "--pseudo-wins", "0.5", "--errors", "fisher", "--json"]
    assert main(["preferences", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["questions"]["answer"]["judgements"] == 1
