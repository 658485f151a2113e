"""The flow of the page in a browser: to the result, back to stale inputs, and a stop that is no failure."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams
from visitors import IN_SIGHT, experts, paste, wait_for_figure, wait_until

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
# With words of several lines: where the words, the bar and the seconds of progress end, and where they begin.
PROGRESS = """(() => {
    const parts = ["-level-inner", "-bar-wrap", "-text"].map(end => document.querySelector(`#status .progress${end}`));
    parts[0].textContent = "minilm: scoring model 2 of 5, closeness of the first .951 [.902, .974] ".repeat(2);
    const boxes = parts.map(part => part.getBoundingClientRect());
    return [boxes.map(box => box.bottom), boxes.map(box => box.top)];
})()"""


def test_both_curves_are_under_the_verdict_without_a_click(page: Any) -> None:
    """Beside each other on a desk, one below the other on a phone."""
    page.set_viewport_size({"width": 1024, "height": 768})
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    page.click("#compare")
    names = ("divergence_curve", "precision_recall")
    parts = [
        *(f"#{name} svg.marks" for name in names),
        *(f"#{name}_reading p" for name in names),
        ".mm-answer",
        "#pair",
    ]
    for part in parts:
        page.wait_for_selector(part, state="visible")
    for name in names:
        words = page.inner_text(f"#{name}_reading")
        assert all(word in words for word in ("Up is", "quality", "diversity", "two human"))
    check_places(page, parts)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(  # the figures are drawn anew for the width
        "name => document.querySelector(name).getBoundingClientRect().right <= innerWidth", arg=parts[1]
    )
    check_places(page, parts)


def check_places(page: Any, parts: list[str]) -> None:
    """Both figures with their sentences between verdict and texts, at the width of the window."""
    # all at one moment, since the page scrolls to its result
    left, right, *said, verdict, texts = page.evaluate(
        "parts => parts.map(part => document.querySelector(part).getBoundingClientRect().toJSON())", parts
    )
    assert verdict["y"] < left["y"] and max(box["y"] + box["height"] for box in said) <= texts["y"]
    if page.viewport_size["width"] >= 1024:
        assert left["x"] + left["width"] <= right["x"] and abs(left["y"] - right["y"]) < 40
    else:
        assert left["y"] + left["height"] < said[0]["y"] < right["y"] < said[1]["y"]
    for box, words in zip((left, right), said, strict=True):  # each sentence is below its own figure
        assert words["y"] >= box["y"] + box["height"] - 1
        assert abs(words["x"] - box["x"]) < 100 and box["x"] + box["width"] <= page.viewport_size["width"]


def test_work_is_asked_about_before_it_is_left_and_survives_a_reload(page: Any, served: Any) -> None:
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.accept()))
    page.reload()
    page.wait_for_selector("#compare")
    assert dialogs == []  # there is nothing to lose
    with page.context.expect_page() as other:
        page.click("#judge_link a")
    other.value.close()
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    page.click("#compare")
    score = page.inner_text("#score strong >> nth=0")
    page.wait_for_selector("#model_1_preview li", state="attached")
    page.reload()
    assert dialogs == ["beforeunload"]
    page.wait_for_selector("#score strong")
    page.complaints.clear()  # of the requests that the reload cut off
    assert page.inner_text("#score strong >> nth=0") == score
    assert all("texts" in page.inner_text(f"#{side}_preview p") for side in ("human", "model_1"))
    wait_for_figure(page, "divergence_curve")
    assert not page.is_visible("#stale .mm-stale")
    page.click("#compare")  # with what the page held before
    page.wait_for_selector("#status [data-result]", state="attached")
    assert page.inner_text("#score strong >> nth=0") == score


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True)
def test_a_cure_that_names_a_control_opens_the_panels_that_hold_it(page: Any) -> None:
    from mauve_metric.hosts.space.view.markup import CONTROL_LINK, PANELS

    for name in ("aligned", "independent", "strip"):
        (path,) = (path for path in PANELS.values() if path.endswith(f"/{name}"))
        page.evaluate("path => { location.hash = path; }", f"{CONTROL_LINK}{path}")
        page.wait_for_function("name => document.activeElement.closest('#' + name)", arg=name)
        assert page.is_visible(f"#{name}") and page.evaluate("location.hash") == ""

    box = "#strip :is(input, textarea)"
    page.fill(box, "html")
    page.click("#make_link")
    page.wait_for_function("location.search === '?strip=html'")
    page.wait_for_selector("#settings_link")
    page.fill(box, "no")  # without a key, as the mouse pastes: the link is to other settings
    page.wait_for_selector("#settings_link", state="hidden")
    page.wait_for_function("location.search === ''")


@pytest.mark.parametrize("page", [{"size": (1440, 900), "reduced_motion": "reduce"}], indirect=True)
def test_the_page_goes_to_its_result_and_says_when_it_is_stale_or_stopped(
    page: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    page.click("#compare")
    score = page.inner_text("#score strong >> nth=0")
    page.wait_for_function("document.activeElement.id == 'outcome'")
    assert page.evaluate(IN_SIGHT, "#score")
    above = page.evaluate("document.querySelector('#experts').getBoundingClientRect().top + scrollY")
    assert above <= 3 * 900  # three screens, then what is folded
    page.wait_for_function(
        "score => document.querySelector('#said[role=status]').textContent.includes(score)", arg=score
    )
    assert page.is_visible("#divergence_curve") and not page.is_visible("#contributions")  # which is folded
    experts(page)

    page.fill("#mauve_scaling_factor input[type=number]", "50")
    page.wait_for_selector("#play_note :text('from 0.5 to 20 here, got 50')")
    page.keyboard.press("Tab")
    page.wait_for_function("document.querySelector('#mauve_scaling_factor input[type=number]').value == '5'")

    page.fill("#model_1_name input, #model_1_name textarea", "renamed")
    page.keyboard.press("Tab")
    page.wait_for_selector("#stale :text('The texts or options have changed: compare again')")
    page.fill("#model_1_name input, #model_1_name textarea", "pasted")
    page.keyboard.press("Tab")
    page.wait_for_selector("#stale .mm-stale", state="detached")

    said, may_answer, stale = [], threading.Event(), served.handlers.stale

    def stale_late(*given: Any) -> Any:
        said.append(stale(*given))
        assert may_answer.wait(600)
        return said[-1]

    with monkeypatch.context() as patch:
        patch.setattr(served.handlers, "stale", stale_late)
        page.click("#choices > button")
        page.check("#aligned input")
        wait_until(lambda: len(said) == 1, 600)
        page.uncheck("#aligned input")  # while the change is checked
        page.click("#choices > button")
        may_answer.set()
        wait_until(lambda: len(said) >= 2, 600)
        assert said[0] and not said[1]
        page.wait_for_selector("#stale .mm-stale", state="detached")

    runs: list[str] = []  # the sessions that they were of
    run_of = served.handlers._run

    def counted(session: Any, *given: Any) -> dict[str, object]:
        runs.append(session.name)
        return dict(run_of(session, *given))

    def slow(texts: list[str]) -> Any:
        run = served.handlers.sessions.get(runs[-1]).run
        wait_until(lambda: run.stopped)
        return ngrams(texts)

    monkeypatch.setattr(served.handlers, "_run", counted)
    monkeypatch.setitem(served.handlers.encoders.functions, "ngrams", slow)
    paste(page, "human", HUMAN[:20])
    page.click("#compare")
    page.wait_for_selector("#status :text('reading human texts')")
    assert not page.is_visible("#stale .mm-stale")  # what is being made again is not called old
    page.wait_for_function("document.querySelector('#said').textContent === 'Comparing'")
    page.set_viewport_size({"width": 320, "height": 568})
    bottoms, tops = page.evaluate(PROGRESS)
    assert bottoms[0] <= tops[1] and bottoms[1] <= tops[2]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.click("#compare", force=True)  # which begins no second run
    page.click("#compare", force=True)
    page.click("#stop")
    page.wait_for_selector("#status :text('Stopped. Nothing was changed.')")
    page.wait_for_function("document.querySelector('#said').textContent.startsWith('Stopped')")
    assert page.inner_text("#score strong >> nth=0") == score
    assert page.locator("#status .error").count() == 0
    monkeypatch.setitem(served.handlers.encoders.functions, "ngrams", ngrams)
    for _ in range(240):  # a click before the browser has the answer to the stopped run is none
        if len(runs) == 2:
            break
        page.click("#compare")
        page.wait_for_timeout(500)
    page.wait_for_selector("#status [data-result]", state="attached")
    assert len(runs) == 2 and len(set(runs)) == 1
