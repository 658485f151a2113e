"""The page in a browser, with a featurizer that needs no model: what a visitor does, and what a stranger tries."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from samples import HOSTILE, HUMAN, MODEL, ngrams, write_jsonl
from visitors import compare, paste, upload

from mauve_metric import MauveResult, compute_mauve

pytest.importorskip("gradio")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams)


def wait_for_other(page: Any, old: str) -> str:
    page.wait_for_function("old => document.querySelector('#score strong').innerText != old", arg=old)
    return str(page.inner_text("#score strong"))


def test_upload_compare_hover_play_read_and_take_away(page: Any, tmp_path: Path, expected: MauveResult) -> None:
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", MODEL))
    assert "24 texts" in page.inner_text("#model_1_preview")
    score = compare(page)
    assert score == f"{expected.mauve:.4f}"
    assert page.inner_text("#signature .cm-content") == expected.signature

    page.fill("#mauve_scaling_factor input[type=number]", "2")
    page.keyboard.press("Tab")
    with_c = wait_for_other(page, score)
    wanted = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, mauve_scaling_factor=2)
    assert with_c == f"{wanted.mauve:.4f}"

    page.click("#bucket input")
    picked = page.locator("ul[role=listbox] li").nth(1)
    counts = re.findall(r"(\d+) (?:human|model)", picked.inner_text())
    picked.click()
    for title, count, total in zip(("Human", "Model"), counts, (len(HUMAN), len(MODEL)), strict=True):
        page.wait_for_selector(f"#bucket_texts h4:has-text('{title}: {count} of {total}')")
    assert page.locator("#bucket_texts .mm-texts li").count() == sum(min(int(count), 12) or 3 for count in counts)

    page.click("#make_files")
    page.wait_for_selector("#files a[href*='mauve.json']")
    with page.expect_download() as download:
        page.click("#files a[href*='mauve.json']")
    assert json.loads(Path(download.value.path()).read_text(encoding="utf-8"))["mauve"] == wanted.mauve


def test_the_column_is_chosen_from_those_that_are_there(page: Any, tmp_path: Path) -> None:
    rows = "".join(f"{number},{text},note\n" for number, text in enumerate(HUMAN))
    (tmp_path / "human.csv").write_text("id,story,remark\n" + rows, encoding="utf-8")
    upload(page, "human", str(tmp_path / "human.csv"))
    assert "column story" in page.inner_text("#human_preview")
    page.click("#human_column input")
    page.fill("#human_column input", "remark")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#human_preview em:text('remark')")
    assert page.locator("#human_preview li").first.inner_text() == "note"


def test_hostile_texts_stay_texts_and_the_page_stays_usable(page: Any, tmp_path: Path) -> None:
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", [*HOSTILE, *HUMAN[:20]]))
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", [*HOSTILE, *MODEL]))
    assert "<script>document.title=1</script>" in page.inner_text("#human_preview")
    compare(page)
    shown = page.inner_text("#bucket_texts")
    page.click("#bucket input")
    numbers = [re.search(r"bucket (\d+)", text)[1] for text in page.locator("ul[role=listbox] li").all_inner_texts()]
    for number in numbers[1:]:
        page.fill("#bucket input", f"bucket {number}:")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.wait_for_timeout(400)
        shown += page.inner_text("#bucket_texts")
        page.click("#bucket input")
    page.keyboard.press("Escape")
    assert "${alert(1)} {{this}} `x`" in shown and "<img src=x" in shown
    assert page.locator("img[src=x]").count() == 0 and page.title() == "MAUVE"

    bad = tmp_path / "<b>bad.csv"
    bad.write_bytes(b"text\n\xff\n")
    page.click("#model_1_remove")
    page.wait_for_selector("#model_1_preview li", state="detached")  # the answer to the click has come
    page.set_input_files("#model_file input[type=file]", str(bad))
    page.wait_for_selector("#model_problem [role=alert]")
    assert "model set “bbad” is not UTF-8" in page.inner_text("#model_problem")
    page.click("#compare")
    page.wait_for_selector(".toast-body")
    assert "the model's texts: choose a file" in page.inner_text(".toast-body")
    assert page.is_enabled("#compare")


def test_closing_the_page_leaves_nothing_in_memory_or_on_the_disk(served: Any, browser: Any, tmp_path: Path) -> None:
    folder, sessions = Path(os.environ["GRADIO_TEMP_DIR"]), served.handlers.sessions

    def files() -> set[str]:
        return {path.name for path in folder.rglob("*") if path.is_file()}

    wait_until(lambda: len(sessions) == 0)  # the pages of other tests
    context = browser.new_context()
    page = context.new_page()
    page.goto(served.local_url)
    page.wait_for_selector("#compare")
    upload(page, "human", write_jsonl(tmp_path / "only here.jsonl", HUMAN))
    paste(page, "model", MODEL)
    compare(page)
    page.click("#make_files")
    page.wait_for_selector("#files a[href*='mauve.json']")
    assert len(sessions) == 1
    assert files() >= {"only here.jsonl", "mauve.json", "mauve.pdf"}
    context.close()
    # the session goes first, then its files
    wait_until(lambda: len(sessions) == 0 and not files() & {"only here.jsonl", "mauve.json", "mauve.pdf"})


def wait_until(condition: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)
    assert condition()
