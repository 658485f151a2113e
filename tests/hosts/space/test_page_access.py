"""The page for everybody: axe-core's rules in every state, the keys alone, and what a screen reader reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from samples import HOSTILE, HUMAN, MODEL, ngrams, write_jsonl
from visitors import FIGURES, compare, experts, opened, paste, unpacked, upload

from mauve_metric import MauveResult, compute_mauve

axe = pytest.importorskip("axe_playwright_python")
pytestmark = pytest.mark.browser

DESK, PHONE = (1440, 900), (390, 844)
# What is drawn is described by its frame, and hidden from who listens. Its colours are those of the figures' tests.
DRAWN = "svg.marks"
CODE = ".cm-content"  # the same in all results, and half of the time that a look takes
BROKEN = """async ([within, but, rules]) => {
    await new Promise(done => setTimeout(done, 150));  // what waits for the page to be still has run
    const found = await axe.run({exclude: but, ...(within.length && {include: within})},
        {resultTypes: ['violations'], ...(rules.length && {runOnly: rules})});
    return found.violations.flatMap(({id, nodes}) => nodes.map(node => `${id}: ${node.html.slice(0, 160)}`));
}"""
# The rules that depend on colours and width: the others find in a theme what they find in the other.
APPEARANCE = ("color-contrast", "link-in-text-block", "scrollable-region-focusable")
# What looks different in some states; the rest of the page has been looked at before.
PANELS = ("#options", "#code")
MISTAKE = (".toast-wrap", "#score")
STALE = ("#stale", "#score", "#warnings", "#tables", "#bucket_texts", "#table")
LONG = "with a rather long name that goes on and on until the phone has no room for it any more"


def broken(
    page: Any, size: tuple[int, int], dark: bool, *but: str, within: tuple[str, ...] = (), rules: tuple[str, ...] = ()
) -> list[str]:
    """The rules that the page, but for some parts, breaks at this size in this theme, and whether it is too wide.

    within: the parts to look at; the whole page without. rules: those of axe-core; all without."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
    found: list[str] = page.evaluate(BROKEN, [within, [DRAWN, *but], rules])
    for _ in range(10):  # on a busy machine, scripts of the page may still be at work on it
        if not found:
            break
        page.wait_for_timeout(1000)
        found = page.evaluate(BROKEN, [within, [DRAWN, *but], rules])
    wide = page.evaluate("document.documentElement.scrollWidth")
    return [*found, *([f"scrolls sideways: {wide}"] if wide > size[0] else [])]


@pytest.fixture(scope="module")
def still(context: Any, served: Any) -> Iterator[Any]:
    """A page without transitions, which axe-core has come to."""
    page = opened(context, served.local_url, DESK, reduced_motion="reduce")
    page.add_style_tag(content="* {transition: none !important; animation: none !important}")
    page.evaluate((files(axe) / "axe.min.js").read_text(encoding="utf-8"))
    yield page
    page.close()


def open_panels(page: Any) -> None:
    for name in ("choices", "options", "code"):
        page.click(f"#{name} > button")
    page.click("#make_link")
    page.wait_for_selector("#settings_link textarea, #settings_link input")


def make_a_mistake(page: Any) -> None:
    for name in ("options", "code"):
        page.click(f"#{name} > button")
    page.click("#compare")
    said = "the human set: choose a file, paste texts or take an example first"
    page.wait_for_selector(f".toast-body :text('{said}')")
    page.wait_for_selector(f"#status .error:text('{said}')")  # which stays when the message has gone
    page.wait_for_function("getComputedStyle(document.querySelector('.toast-body')).opacity == 1")


def compare_one(page: Any) -> None:
    page.click(".toast-close")
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    compare(page)
    experts(page)


def change_the_inputs(page: Any) -> None:
    page.fill("#model_1_name :is(input, textarea)", "renamed")
    page.keyboard.press("Tab")
    page.wait_for_selector("#stale :text('have changed')")


def compare_three(page: Any, folder: Path) -> None:
    rows = "".join(f"{text},{number}\n" for number, text in enumerate(MODEL))
    (folder / f"{LONG}.csv").write_text("story,note\n" + rows, encoding="utf-8")
    texts = {"b": HUMAN[:20], "c": [*HOSTILE, *HUMAN[:17]]}
    page.click("#model_1_remove")
    page.wait_for_selector("#model_1", state="hidden")
    page.click("#model_upload_tab-button")
    upload(page, "model", str(folder / f"{LONG}.csv"), *(write_jsonl(folder / f"{n}.jsonl", texts[n]) for n in texts))
    compare(page)
    page.wait_for_selector("#tables table")
    page.click("#warnings summary")


def compute_the_measures(page: Any) -> None:
    page.click("#every_measure > button")
    page.click("#compute_measures")
    page.wait_for_selector("#measures tbody th")
    page.wait_for_selector("#measures_status :text('measures are there')")


def open_a_result(page: Any, folder: Path, result: MauveResult) -> None:
    (folder / "mauve.json").write_text(json.dumps(result.to_dict()), encoding="utf-8")
    page.set_input_files("#open_result input[type=file]", str(folder / "mauve.json"))
    page.wait_for_selector("#about :text('Opened from')")


def test_no_rule_is_broken_in_any_state(still: Any, tmp_path: Path, expected: MauveResult) -> None:
    found = {}

    def look(state: str, *but: str, within: tuple[str, ...] = ()) -> None:
        found[state, "desk"] = broken(still, DESK, False, *but, within=within)
        rules = () if state == "arrived" else APPEARANCE
        found[state, "dark phone"] = broken(still, PHONE, True, *but, within=within, rules=rules)
        still.set_viewport_size({"width": DESK[0], "height": DESK[1]})

    look("arrived")
    open_panels(still)
    look("panels", within=PANELS)
    make_a_mistake(still)
    look("mistake", within=MISTAKE)
    compare_one(still)
    look("one")
    change_the_inputs(still)
    look("stale", CODE, within=STALE)
    compare_three(still, tmp_path)
    look("three", CODE)
    found["three", "dark desk"] = broken(still, DESK, True, CODE, rules=APPEARANCE)
    found["three", "phone"] = broken(still, PHONE, False, CODE)
    compute_the_measures(still)
    look("measures", within=("#measures",))
    still.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    parts = ("model_1_name", "model_1_remove", "tables", "bucket_texts", "measures")
    for part in (*parts, *FIGURES):
        box = still.locator(f"#{part}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0], part
    open_a_result(still, tmp_path, expected)
    look("opened", CODE, within=("#open_result", "#outcome"))
    assert not any(found.values()), "\n".join(f"{state}: {rule}" for state, rules in found.items() for rule in rules)


def heard(page: Any) -> list[str]:
    """The lines of what a screen reader reads, in its order."""
    page.evaluate("new Promise(done => setTimeout(done, 150))")
    return [line.strip(" -") for line in page.locator("body").aria_snapshot().splitlines()]


def test_a_screen_reader_reads_what_is_there_in_the_order_of_the_page(page: Any) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    score = compare(page)
    experts(page)
    page.wait_for_selector("#table table", state="visible")
    lines = heard(page)
    wanted = [
        'heading "MAUVE" [level=1]',
        'link "Judge texts yourself"',
        'heading "Human texts" [level=2]',
        'tablist "Human texts"',
        "heading \"The model's texts",
        'button "Compare"',
        "The result is there",
        'button "More examples, a saved result, options',
        'heading "Result" [level=2]',
        f'strong: "{score}"',
        'img "From 0, nothing in common',
        'button "Download report and figures"',
        'button "For experts',
        'heading "What keeps the score from 1',
        'combobox "Bucket"',
        'heading "Play',
        'slider "range slider for Scaling factor c"',
        'heading "All scores" [level=3]',
        "table",
        'button "Copy: The same in Python"',
        'button "Use it from code"',
    ]
    places = iter(enumerate(lines))
    for part in wanted:
        assert any(part in line for _, line in places), f"{part} is not there, or not in this order"
    drawn = [line for line in lines if line.startswith(('img "', "'img \""))]
    assert len(set(drawn)) == len(drawn) == len(FIGURES) + 1 and not any("Vega" in line for line in lines)
    assert [
        line for line in lines if re.fullmatch(r"(img|button|link|textbox|combobox|slider|spinbutton):?", line)
    ] == []
    names = [line for line in lines if line.startswith(("button", "'button", "link", "'link"))]
    assert len(set(names)) == len(names)  # none differs from another by its place alone


FOCUS = """() => {
    const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
    return {page: at === document.body, what: at.outerHTML.slice(0, 160), seen: box.width > 0 && box.height > 0,
        ring: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
        inside: box.bottom > 0 && box.top < innerHeight};
}"""


def tab_to(page: Any, selector: str, most: int = 60) -> None:
    """Go on with the Tab key; whatever has the focus on the way is on the screen and has a ring."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
        focus = page.evaluate(FOCUS)
        assert focus["page"] or (focus["seen"] and focus["ring"] and focus["inside"]), focus
    raise AssertionError(f"the Tab key does not lead to {selector}, but to {focus['what']}")


@pytest.mark.parametrize("page", [{"color_scheme": "dark", "reduced_motion": "reduce"}], indirect=True)
def test_the_keys_are_enough_from_the_texts_to_the_files(page: Any) -> None:
    assert page.evaluate("document.body.classList.contains('dark')")
    page.keyboard.press("Tab")
    for which, texts in (("human", HUMAN), ("model", MODEL)):
        tab_to(page, f"#{which}_paste_tab-button")
        page.keyboard.press("Enter")
        tab_to(page, f"#{which}_paste textarea")
        page.keyboard.insert_text("\n".join(texts))
        page.keyboard.press("Tab")
        page.wait_for_selector(f"#{'human' if which == 'human' else 'model_1'}_preview li")
    tab_to(page, "#compare")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id == 'outcome'")

    page.wait_for_selector("#divergence_curve .mm-save")
    tab_to(page, "#divergence_curve .mm-save button")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "mauve-divergence-curve.png"
    tab_to(page, "#warnings summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#warnings details li")
    tab_to(page, "#experts > button")
    page.keyboard.press("Enter")
    for figure in FIGURES:
        page.wait_for_selector(f"#{figure} .mm-save")
    tab_to(page, "#bucket input")
    title = page.inner_text("#bucket_texts h4 >> nth=0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function("old => document.querySelector('#bucket_texts h4').innerText != old", arg=title)
    tab_to(page, "#mauve_scaling_factor input[type=range]")
    score = page.inner_text("#score strong >> nth=0")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("old => document.querySelector('#score strong').innerText != old", arg=score)
    page.focus("#outcome")
    tab_to(page, "#make_files")
    with page.expect_download() as download:
        page.keyboard.press("Space")
    wanted = compute_mauve(p_text=HUMAN, q_text=MODEL, featurize_model_name=ngrams, mauve_scaling_factor=4.5)
    assert json.loads(unpacked(download.value.path())["mauve.json"])["mauve"] == wanted.mauve
