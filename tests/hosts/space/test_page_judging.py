"""The page of judgements in a browser: two rounds and a pair, and the downloaded tables in the commands."""

from __future__ import annotations

import csv
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from samples import ngrams, write_jsonl
from visitors import SERVED, foreign, free_port

from mauve_metric.hosts.cli.main import main

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_two_rounds_and_a_pair_by_keyboard_become_tables_for_the_commands(
    context: Any, served: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    page.on("request", lambda sent: complaints.append(sent.url) if foreign(sent.url, served.local_url) else None)
    page.goto(f"{served.local_url}judge")
    page.wait_for_selector("#judge_start:enabled")
    assert page.locator(".nav-holder").is_hidden() and not page.locator("#machine").is_enabled()
    give_files(page, tmp_path)
    page.get_by_label("Your name or a code, for the table").fill("ann")
    page.locator("#judge_start").press("Enter")
    for round in (1, 2):
        page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
        page.wait_for_selector("#human:enabled")
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
    page.wait_for_selector("#answer_2a:enabled")
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


def give_files(page: Any, folder: Path) -> None:
    for box, name in (("judge_human", "human"), ("judge_models", "m")):
        texts = [" ".join(f"{name.title()} {row} says {place}." for place in range(4)) for row in range(6)]
        page.set_input_files(f"#{box} input[type=file]", write_jsonl(folder / f"{name}.jsonl", texts))
        page.wait_for_selector(f"#{box} :text('{name}')")


def judged(page: Any, count: int) -> None:
    page.wait_for_selector(f"#boundary_save:has-text('({count} judged)')")


def stored(page: Any, count: int) -> None:
    """Wait for what the browser stores at the end of an event."""
    page.wait_for_function(
        "count => JSON.parse(localStorage.getItem('mauve_metric_judgements'))?.boundaries.length === count", arg=count
    )


def reload_beside_the_pages_own(page: Any) -> None:
    """Reload; a page whose connection is back reloads itself, which aborts a reload from outside."""
    from playwright.sync_api import Error

    for attempts_left in reversed(range(5)):
        try:
            page.reload()
            return
        except Error as error:
            if "ERR_ABORTED" not in str(error) or not attempts_left:
                raise
            page.wait_for_timeout(2000)


def test_nothing_but_the_judge_deletes_the_tables(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import app
    from mauve_metric.hosts.space.limits import Limits

    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    port = free_port()

    def serve() -> Any:
        page = app.build_app(Limits(), [], {"ngrams": ngrams})
        page.launch(**(app.launch_options(Limits()) | SERVED | {"server_port": port}))
        return page

    server, context = serve(), browser.new_context()
    context.set_default_timeout(600_000)
    page = context.new_page()
    page.goto(f"{server.local_url}judge")
    page.click("#judge_start")
    page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
    assert page.input_value("#rater textarea, #rater input").startswith("judge-")
    page.click("#machine")
    judged(page, 1)
    page.reload()
    judged(page, 1)
    other = context.new_page()  # of the same browser: it goes on where the first one is
    other.goto(f"{server.local_url}judge")
    judged(other, 1)
    other.click("#machine")
    judged(other, 2)
    page.click("#machine")  # for a text that is judged already
    page.wait_for_selector("#boundary_said :text('This page was behind')")
    judged(page, 2)
    other.dblclick("#judge_start")  # adds to the tables
    other.wait_for_selector("#boundary_said:not(:has-text('points'))", state="attached")
    other.wait_for_selector("#judge_start:enabled")
    other.click("#machine")
    judged(other, 3)
    other.close()
    page.click("#judge_start")  # so does the first tab, to those of the other
    judged(page, 3)
    context.set_offline(True)
    page.click("#machine")
    page.wait_for_timeout(6000)
    context.set_offline(False)
    reload_beside_the_pages_own(page)
    page.wait_for_selector("#boundary_save:has-text('judged')")
    kept = int(page.inner_text("#boundary_save").split("(")[1].split()[0])
    assert kept >= 3
    server.close()
    server = serve()
    reload_beside_the_pages_own(page)
    page.wait_for_selector("#boundary_shown :text('not on this server any more')")
    judged(page, kept)
    page.click("#judge_start")
    page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
    page.click("#machine")
    judged(page, kept + 1)
    stored(page, kept + 1)
    for accepted, count in ((False, kept + 1), (True, 0)):
        page.once("dialog", lambda asked, yes=accepted: asked.accept() if yes else asked.dismiss())
        page.evaluate("localStorage.removeItem('mauve_metric_judgements')")
        page.click("#judge_delete")
        stored(page, count)
        judged(page, count)
    page.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); }")
    page.reload()
    page.wait_for_selector("#judge_unsaved :text('Download them before you close')")
    page.click("#machine")
    judged(page, 1)
    page.click("#human")  # a second click on the same button, before its first event has ended, would be none
    page.wait_for_selector("#boundary_shown :text('Sentence 3 of'), #boundary_save:has-text('(2 judged)')")
    page.click("#machine")
    page.wait_for_selector("#boundary_save:has-text('judged'):not(:has-text('(1 judged)'))")
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    assert asked == ["beforeunload"]
    context.close()
    server.close()


def test_no_answer_is_taken_while_start_reads_and_a_refused_start_changes_nothing(
    context: Any, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve_metric.hosts.space.view import judging

    may_read, read = threading.Event(), judging.judged_sets

    def read_when_asked(*given: Any) -> Any:
        assert may_read.wait(timeout=600)
        return read(*given)

    page = context.new_page()
    page.add_init_script("localStorage.clear()")
    page.goto(f"{served.local_url}judge")
    give_files(page, tmp_path)
    page.click("#judge_start")
    page.click("#machine")
    judged(page, 1)
    monkeypatch.setattr(judging, "judged_sets", read_when_asked)
    give_files(page, tmp_path)
    page.click("#judge_start")
    for button in ("#machine", "#human", "#judge_start"):
        page.wait_for_selector(f"{button}:disabled")
    may_read.set()
    page.wait_for_selector("#machine:enabled")
    page.wait_for_selector("#judge_start:enabled")
    judged(page, 1)

    shown = page.inner_text("#boundary_shown")
    page.set_input_files("#judge_human input[type=file]", tmp_path / "human.jsonl")
    page.wait_for_selector("#judge_human :text('human')")
    page.get_by_label("Your name or a code, for the table").fill("ann")
    page.click("#judge_start")
    page.wait_for_selector(".toast-body :text('a file each” is empty')")
    signs = "[...document.querySelectorAll('[data-testid=status-tracker].hide button')]"  # of an error, not shown
    assert page.evaluate(f"{signs}.length && {signs}.every(sign => getComputedStyle(sign).visibility === 'hidden')")
    for button in ("#machine", "#human", "#judge_start"):
        page.wait_for_selector(f"{button}:enabled")
    assert page.inner_text("#boundary_shown") == shown
    assert page.get_by_label("Your name or a code, for the table").input_value() == "ann"
    page.set_input_files("#judge_models input[type=file]", tmp_path / "m.jsonl")
    page.wait_for_selector("#judge_models :text('m.jsonl')")
    page.click("#judge_start")  # with the file of before
    page.wait_for_selector("#judge_human .upload-container")  # the boxes are empty
    page.wait_for_selector("#judge_start:enabled")
    page.close()


def test_no_name_is_typed_and_nothing_starts_before_the_page_has_what_was_there(
    context: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve_metric.hosts.space.session.judgings import Judgings

    arriving, may_arrive, get = threading.Event(), threading.Event(), Judgings.get

    def get_when_asked(*given: Any) -> Any:
        arriving.set()
        assert may_arrive.wait(timeout=600)
        return get(*given)

    monkeypatch.setattr(Judgings, "get", get_when_asked)
    page = context.new_page()
    page.goto(f"{served.local_url}judge")
    assert arriving.wait(timeout=600)
    name = page.get_by_label("Your name or a code, for the table")
    assert page.is_disabled("#judge_start") and name.is_disabled()
    may_arrive.set()
    name.fill("eve")
    page.click("#judge_start")
    page.wait_for_selector("#boundary_shown :text('Sentence 2 of')")
    assert name.input_value() == "eve"
    page.close()
