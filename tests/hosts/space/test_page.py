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
from visitors import NAMELESS, compare, paste, upload

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


def test_hovering_over_the_curve_shows_the_weight_and_both_errors(page: Any) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    compare(page)
    page.wait_for_timeout(300)
    drawn = page.locator("#divergence_curve svg.marks")
    drawn.scroll_into_view_if_needed()
    box = drawn.bounding_box()
    tip = page.locator("#vg-tooltip-element")
    seen = ""
    for step in range(5, 95):  # across the curve, from one corner to the other
        page.mouse.move(
            box["x"] + box["width"] * (0.12 + 0.0086 * step), box["y"] + box["height"] * (0.85 - 0.007 * step)
        )
        seen = tip.inner_text() if tip.count() else ""
        if "λ" in seen:
            break
    assert "λ, share of human text" in seen and "Type I error" in seen and "Type II error" in seen


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


@pytest.mark.parametrize("page", [{"viewport": {"width": 375, "height": 740}}], indirect=True)
def test_a_phone_shows_everything_without_scrolling_sideways(page: Any) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    compare(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    for name in ("compare", "play", "bucket_texts", "divergence_curve", "python"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 375, name


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_dark_mode_is_dark_and_can_be_read(page: Any) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    compare(page)
    for selector in (
        "#score",
        "#limits p",
        "#featurizer span[data-testid=block-info]",
        "#bucket_texts li",
        "#table td",
        "#warnings li",
    ):
        assert contrast(page, selector) >= 4.5, selector


def test_light_mode_can_be_read(page: Any) -> None:
    for selector in ("#limits p", "#featurizer span[data-testid=block-info]", "#compare"):
        assert contrast(page, selector) >= 4.5, selector


def contrast(page: Any, selector: str) -> float:
    """WCAG's contrast of an element's text against the nearest background that is not transparent."""
    colors = page.eval_on_selector(
        selector,
        """element => { let back = element; const clear = 'rgba(0, 0, 0, 0)';
            while (back.parentElement && getComputedStyle(back).backgroundColor === clear) back = back.parentElement;
            return [getComputedStyle(element).color, getComputedStyle(back).backgroundColor]; }""",
    )
    light = []
    for color in colors:
        channels = [float(value) / 255 for value in re.findall(r"[\d.]+", color)[:3]]
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
        light.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return float((max(light) + 0.05) / (min(light) + 0.05))


def test_the_keyboard_is_enough_and_every_control_has_a_name(page: Any, expected: MauveResult) -> None:
    for which, texts in (("human", HUMAN), ("model", MODEL)):
        page.focus(f"#{which}_side button[role=tab] >> nth=0")
        page.keyboard.press("Tab")
        focused = "document.activeElement.innerText"
        if page.evaluate(focused).strip() != "Paste":  # tabs that are walked with the arrow keys
            page.focus(f"#{which}_side button[role=tab]:has-text('Paste')")
        page.keyboard.press("Enter")
        page.focus(f"#{which}_paste textarea")
        page.keyboard.insert_text("\n".join(texts))
    page.keyboard.press("Tab")
    for _ in range(25):
        if page.evaluate("document.activeElement.id") == "compare":
            break
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "compare"
    page.keyboard.press("Enter")
    page.wait_for_selector("#score strong")
    assert page.inner_text("#score strong") == f"{expected.mauve:.4f}"
    page.click("#options button")
    page.wait_for_selector("#knn_k input")
    assert page.evaluate(NAMELESS) == []


def test_a_second_click_starts_no_second_run_and_stop_stops(page: Any, served: Any) -> None:
    calls: list[int] = []
    functions = served.handlers.encoders.functions

    def slow(texts: list[str]) -> Any:
        calls.append(len(texts))
        time.sleep(1.5)
        return ngrams(texts)

    functions["ngrams"] = slow
    try:
        paste(page, "human", HUMAN)
        paste(page, "model", MODEL)
        page.click("#compare")
        page.wait_for_timeout(300)
        page.click("#compare", force=True)
        page.click("#compare", force=True)
        page.wait_for_selector("#score :text('reading human texts')")
        page.click("#stop")
        page.wait_for_timeout(2500)
        assert calls == [len(HUMAN)]  # stopped after the first set, and not begun again
        assert page.locator("#score strong").count() == 0
    finally:
        functions["ngrams"] = ngrams
    assert compare(page)


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
