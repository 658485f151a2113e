"""The page in a browser, with a featurizer that needs no model: what a visitor does, and what a stranger tries."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from samples import HOSTILE, HUMAN, MODEL, ngrams, write_jsonl
from visitors import compare, experts, hover, unpacked, upload, wait_until

from mauve_metric import MauveResult, compute_mauve

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def expected() -> MauveResult:
    return compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams)


def test_upload_compare_hover_play_read_take_away_and_leave_nothing(
    page: Any, served: Any, tmp_path: Path, expected: MauveResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = served.handlers.sessions._sessions

    def files(folder: Path) -> set[str]:  # os.walk passes over a folder that goes while it looks; rglob fails on it
        return {name for _, _, names in os.walk(folder) for name in names}

    upload(page, "human", write_jsonl(tmp_path / "only here.jsonl", HUMAN))
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", MODEL))
    assert "24 texts" in page.inner_text("#model_1_preview")
    assert compare(page) == f"{expected.closeness:.3f}"
    experts(page)
    assert page.inner_text("#table tr:has(th:text-is('MAUVE')) td.mm-number") == f"{expected.mauve:.4f}"
    assert page.inner_text("#signature .cm-content") == expected.signature

    point = page.locator("#divergence_curve .mark-symbol.role-mark").last.locator("path").nth(12)
    tip = hover(page, point)
    assert all(part in tip.inner_text() for part in ("λ, share of human text", "Type I error", "Type II error"))

    page.fill("#mauve_scaling_factor input[type=number]", "2")
    page.keyboard.press("Tab")
    wanted = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, mauve_scaling_factor=2)
    page.wait_for_selector(f"#table td:text('{wanted.mauve:.4f}')")

    page.click("#bucket input")
    picked = page.locator("ul[role=listbox] li").nth(1)
    counts = re.findall(r"(\d+) (?:human|model)", picked.inner_text())
    picked.click()
    for title, count, total in zip(("Human", "Model"), counts, (len(HUMAN), len(MODEL)), strict=True):
        page.wait_for_selector(f"#bucket_texts h4:has-text('{title}: {count} of {total}')")
    in_bucket = sum(min(int(count), 12) or 3 for count in counts)
    assert page.locator("#bucket_texts .mm-texts li").count() == in_bucket
    assert page.locator("#pair .mm-pair p").count() == 2 and page.locator("#pair mark.mm-model").count() > 0
    assert page.locator("#pair details .mm-texts li").count() == 2 * 3  # at both ends of the classifier

    with page.expect_download() as download:
        page.click("#make_files")  # one click
    assert download.value.suggested_filename == "mauve.zip" and page.is_visible("#files a[download]")
    assert json.loads(unpacked(download.value.path())["mauve.json"])["mauve"] == wanted.mauve

    uploads = Path(os.environ["GRADIO_TEMP_DIR"])
    (own,) = (name for name, session in sessions.items() if session.human and session.human.name == "only here.jsonl")
    taken = sessions[own].folder
    assert "only here.jsonl" in files(uploads) and files(taken) == {"mauve.zip"}
    monkeypatch.setattr(served.handlers.sessions, "linger", 0)
    page.close()
    # the session goes first, then its files
    wait_until(lambda: own not in sessions and "only here.jsonl" not in files(uploads) and not taken.exists())


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
    shown = page.text_content("#bucket_texts")
    page.click("#bucket input")
    page.wait_for_selector("ul[role=listbox] li")
    choices = page.locator("ul[role=listbox] li").all_inner_texts()
    for choice in choices[1:]:
        before = page.evaluate("document.querySelector('#bucket_texts').innerText")
        page.locator("ul[role=listbox] li").filter(has_text=re.search(r"bucket \d+:", choice)[0]).click()
        # no two buckets have the same texts, though they may have as many
        page.wait_for_function(
            """([old, facts]) => {
                const now = document.querySelector('#bucket_texts').innerText;
                return now != old && now.includes(facts);
            }""",
            arg=[before, re.search(r"[^,:]*% of the gap, .* texts", choice)[0].strip()],
        )
        shown += page.text_content("#bucket_texts")
        page.click("#bucket input")
    page.keyboard.press("Escape")
    assert "${alert(1)} {{this}} `x`" in shown and "<img src=x" in shown
    assert page.locator("img[src=x]").count() == 0 and page.title() == "MAUVE"

    bad = tmp_path / "<b>bad.csv"
    bad.write_bytes(b"text\n" + bytes(range(128, 256)))  # text in no encoding
    page.click("#model_1_remove")
    page.wait_for_selector("#model_1_preview li", state="detached")  # the answer to the click has come
    page.set_input_files("#model_file input[type=file]", str(bad))
    page.wait_for_selector("#model_problem [role=alert]")
    assert "model set “bbad” is not UTF-8" in page.inner_text("#model_problem")
    page.click("#compare")
    page.wait_for_selector(".toast-body")
    assert "the model's texts: choose a file" in page.inner_text(".toast-body")
    assert page.is_enabled("#compare")
