"""The flow of the page in a browser: to the result, back to stale inputs, and a stop that is no failure."""

from __future__ import annotations

from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams
from visitors import compare, paste

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("page", [{"size": (1440, 900), "reduced_motion": "reduce"}], indirect=True)
def test_the_page_goes_to_its_result_and_says_when_it_is_stale_or_stopped(
    page: Any, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    paste(page, "human", HUMAN)
    paste(page, "model", MODEL)
    score = compare(page)
    page.wait_for_function("document.activeElement.id == 'outcome'")
    for part in ("score", "score_line"):  # on the first screen, and where the figures begin
        box = page.locator(f"#{part}").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 900, part
    for part in ("divergence_curve", "precision_recall"):
        assert 0 <= page.locator(f"#{part}").bounding_box()["y"] < 900, part
    assert page.get_attribute("#status", "aria-live") == "polite"
    assert f"The result is there: {score}" in page.inner_text("#status")

    page.fill("#mauve_scaling_factor input[type=number]", "50")
    page.wait_for_selector("#play_note :text('from 0.5 to 20 here, got 50')")
    page.keyboard.press("Tab")
    page.wait_for_function("document.querySelector('#mauve_scaling_factor input[type=number]').value == '5'")

    page.fill("#model_1_name input, #model_1_name textarea", "renamed")
    page.keyboard.press("Tab")
    page.wait_for_selector("#stale :text('Inputs changed: compare again')")
    page.fill("#model_1_name input, #model_1_name textarea", "pasted")
    page.keyboard.press("Tab")
    page.wait_for_selector("#stale .mm-stale", state="detached")

    runs: list[str] = []  # the sessions that they were of
    compared = served.handlers.compare

    def counted(*given: Any) -> list[object]:
        runs.append(next(one.session_hash for one in given if hasattr(one, "session_hash")))
        return list(compared(*given))

    def slow(texts: list[str]) -> Any:
        served.handlers.sessions.get(runs[-1]).run._stopped.wait(120)
        return ngrams(texts)

    monkeypatch.setattr(served.handlers, "compare", counted)
    monkeypatch.setitem(served.handlers.encoders.functions, "ngrams", slow)
    paste(page, "human", HUMAN[:20])
    page.click("#compare")
    page.wait_for_selector("#status :text('reading human texts')")
    page.click("#compare", force=True)  # which begins no second run
    page.click("#compare", force=True)
    page.click("#stop")
    page.wait_for_selector("#status :text('Stopped. Nothing was changed.')")
    assert page.inner_text("#score strong >> nth=0") == score
    assert page.locator("#status .error").count() == 0
    monkeypatch.setitem(served.handlers.encoders.functions, "ngrams", ngrams)
    page.click("#compare")
    page.wait_for_selector("#status [data-result]", state="attached")
    assert len(runs) == 2 and len(set(runs)) == 1
