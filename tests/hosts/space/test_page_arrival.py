"""The page as a visitor finds it, at the width of a desk and of a phone: what is in sight, what moves, what is cut."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from samples import HUMAN, MODEL, ngrams, texts_of, write_jsonl
from visitors import IN_SIGHT, SERVED, experts, free_port, go, opened, upload, wait_for_figure, wait_until

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser

SHIFT = """new Promise(done => { let total = 0;
    new PerformanceObserver(list => { for (const one of list.getEntries()) total += one.value; })
        .observe({type: 'layout-shift', buffered: true});
    setTimeout(() => done(total), 500); })"""
# Whether a part's centre is not covered by another.
ON_TOP = """name => { const part = document.querySelector(name), box = part.getBoundingClientRect();
    return part.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)); }"""
# The height of the smallest words of the figures, as they are drawn on the screen.
SMALLEST = """() => Math.min(...[...document.querySelectorAll('svg.marks text')].map(text => {
    const {a, b} = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b); }))"""


def open_choices(page: Any) -> None:
    """Unfold the options."""
    page.wait_for_selector("#choices > button[aria-expanded]")
    if page.get_attribute("#choices > button", "aria-expanded") == "false":
        page.click("#choices > button")


def choose(page: Any, featurizer: str) -> None:
    """Choose a featurizer."""
    open_choices(page)
    page.click("#featurize_model_name input")
    page.click(f"ul[role=listbox] li:has-text('{featurizer}')")


@pytest.fixture(scope="module")
def arrived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page with the example and two other featurizers."""
    import app
    from mauve_metric.hosts.space.limits import Limits

    def slow(texts: list[str]) -> Any:  # where a test has made it so
        return ngrams(texts)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        demo = app.build_app(Limits(), ["minilm"], {"slow": slow, "ngrams": ngrams})
        demo.launch(**app.launch_options(Limits()) | SERVED | {"server_port": free_port()})
        yield demo
        demo.close()


def see_example(page: Any) -> None:
    """Ask for the example, and wait for its result."""
    page.click("#see_example")
    page.wait_for_selector("#score strong")
    page.wait_for_function("document.activeElement.id == 'outcome'")


SCREENS = [(1440, 900), (1024, 768), (390, 844), (320, 568)]


def on_each_screen(page: Any) -> Iterator[tuple[int, int]]:
    """The top of the page at each size of a screen, one after the other."""
    for size in SCREENS:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.evaluate("scrollTo(0, 0)")
        yield size


def test_the_page_opens_with_the_uploads(
    context: Any, arrived: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def until_stopped(texts: list[str]) -> Any:
        (run,) = (session.run for session in arrived.handlers.sessions._sessions.values() if session.run)
        wait_until(lambda: run.stopped, 600)
        return ngrams(texts)

    for size in SCREENS:
        page = opened(context, arrived.local_url, size, reduced_motion="reduce")
        page.wait_for_selector("#model_file .upload-container")
        assert page.evaluate(SHIFT) < 0.15  # of which .1 is how Gradio begins
        first = ["#see_example", "#judge_link a", "#human_file", "#compare"]
        for part in [*first, "#model_file"] if size[0] > 320 else first:
            assert page.evaluate(IN_SIGHT, part), (part, size)
        assert page.get_attribute("#judge_link a", "href") == "judge" and not page.is_visible("#outcome")
        assert page.locator("#compare").count() == 1 and "5 minutes" in page.inner_text("#run")
        if size != SCREENS[-1]:
            page.close()
        assert page.complaints == []

    path = tmp_path / "both.jsonl"
    rows = [{"human": human, "gpt4": model} for human, model in zip(HUMAN, MODEL, strict=False)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    open_choices(page)
    for size in on_each_screen(page):
        label, icon = (page.locator(f"#open_result {part}").bounding_box() for part in ("label", ".icon-wrap"))
        assert label["y"] + label["height"] <= icon["y"], size
    assert "gpt2" not in page.inner_text("#inputs")
    choose(page, "slow")
    upload(page, "human", str(path))
    upload(page, "model", str(path))
    assert page.is_checked("#aligned input")
    columns = [page.inner_text(f"#{side}_preview em") for side in ("human", "model_1")]
    assert columns == ["human", "gpt4"]  # no column on both sides
    monkeypatch.setitem(arrived.handlers.encoders.functions, "slow", until_stopped)
    for size in on_each_screen(page):
        assert page.evaluate(IN_SIGHT, "#compare") and page.evaluate(ON_TOP, "#compare"), size
    page.click("#compare")
    page.wait_for_selector("#status :text('reading human texts')")
    for size in on_each_screen(page):
        assert page.evaluate(IN_SIGHT, "#status") and page.evaluate(IN_SIGHT, "#compare"), size
        button = page.locator("#compare").bounding_box()
        assert button["y"] + button["height"] <= page.locator("#status").bounding_box()["y"] + 1, size
    page.click("#stop")
    page.wait_for_selector("#status :text('Stopped. Nothing was changed.')")
    for size in on_each_screen(page):
        assert page.evaluate(IN_SIGHT, "#status"), size
    page.close()
    assert page.complaints == []


def test_the_example_fits_on_three_screens(context: Any, arrived: Any) -> None:
    page = opened(context, arrived.local_url, SCREENS[0], reduced_motion="reduce")
    for size in SCREENS[:3]:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        see_example(page)
        for part in (".mm-answer", "#score strong", ".mm-bar"):
            assert page.evaluate(IN_SIGHT, part), (part, size)
        top = page.evaluate("document.querySelector('#experts').getBoundingClientRect().top + scrollY")
        assert size[0] < 1440 or top < 3 * size[1]
        experts(page)
        wait_for_figure(page, "text_map")
        assert page.evaluate(SMALLEST) >= 11, size
        assert page.input_value("#bucket input").startswith("bucket ")
    page.evaluate("document.body.classList.add('dark')")
    line = page.locator("#divergence_curve .mark-line path[stroke='#0072b2' i]").first
    assert line.evaluate("line => getComputedStyle(line).stroke") == "rgb(86, 180, 233)"
    page.evaluate("document.body.classList.remove('dark')")
    title = page.inner_text("#bucket_texts h4 >> nth=0")
    page.focus("#bucket input")
    page.wait_for_selector("ul[role=listbox][tabindex='-1']")
    page.keyboard.press("Tab")
    page.wait_for_function("document.activeElement.matches('#bucket_texts *')")
    assert page.inner_text("#bucket_texts h4 >> nth=0") == title
    page.close()
    assert page.complaints == []


def test_a_box_under_the_verdict_declares_aligned_rows_and_compares_again(
    context: Any, arrived: Any, tmp_path: Path
) -> None:
    """Four prompts, too common to be found as such: the box is where the verdict asks for it."""
    page = opened(context, arrived.local_url, (1440, 900), reduced_motion="reduce")
    opening = [f"On the {row % 4}th day of the long journey to the harbour" for row in range(60)]
    human, model = (
        [f"{start} {text}" for start, text in zip(opening, texts_of(60, seed=seed), strict=True)] for seed in (1, 2)
    )
    for which, texts in (("human", human), ("model", model)):
        upload(page, which, write_jsonl(tmp_path / f"{which}.jsonl", texts))
    choose(page, "ngrams")
    page.click("#compare")
    page.wait_for_selector("#aligned_here input")
    assert page.evaluate(
        "document.querySelector('#aligned_here').compareDocumentPosition(document.querySelector('#pair')) & 4"
    )
    page.check("#aligned_here input")
    page.wait_for_selector("#aligned_here", state="hidden")  # the result is of aligned rows now
    experts(page)
    page.wait_for_selector("#shell .cm-content:has-text('--aligned')")
    page.close()
    assert page.complaints == []


def test_a_run_that_would_take_too_long_is_offered_as_a_sample_or_with_ngrams(
    context: Any, arrived: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(context, arrived.local_url, (1440, 900), reduced_motion="reduce")
    limit = "A run may take at most 5 minutes here."
    page.wait_for_function("said => document.querySelector('#run_limit').innerText === said", arg=limit)
    each = {"seconds": 2.0}  # that a text takes
    speeds = arrived.handlers.encoders.speeds
    monkeypatch.setattr(speeds, "seconds", lambda new, texts: texts * (0.01 if [*new] == [ngrams] else each["seconds"]))
    for which in ("human", "model"):
        upload(page, which, write_jsonl(tmp_path / f"{which}.jsonl", texts_of(1000, seed=len(which))))
    page.wait_for_selector("#run_limit :text('would take about 67 minutes, and a run may take at most 5 minutes here')")
    assert page.evaluate(IN_SIGHT, "#run_limit") and page.inner_text("#compare_quick") == "Compare with ngrams alone"
    assert page.locator("#compare_sample:visible").count() == 0  # it would have fewer than 100 texts
    each["seconds"] = 0.5
    choose(page, "slow")
    page.wait_for_selector("#compare_sample:text('Compare every 5th text')")
    page.click("#compare_sample")
    page.wait_for_selector("#status [data-result]", state="attached")
    assert page.inner_text("#human_preview p").startswith("200 texts (a sample: every 5th text) from human.jsonl")
    experts(page)
    page.wait_for_selector("#python .cm-content")
    assert "q_text=read_texts('model.jsonl')[::5]," in page.inner_text("#python .cm-content")
    page.close()
    assert page.complaints == []


@pytest.mark.slow
def test_a_mistake_is_said_in_words_of_the_page_beside_compare(context: Any, arrived: Any, tmp_path: Path) -> None:
    """Errors of files, of a run and of a link of settings: in sight, beside what they are about."""
    page = opened(context, arrived.local_url, (1440, 900), "?seed=3&colour=red", reduced_motion="reduce")
    page.wait_for_selector("#link_problems :text('“colour”, which is no setting of this page')")
    assert page.evaluate(IN_SIGHT, "#link_problems p")
    see_example(page)
    experts(page)
    page.wait_for_function("document.querySelector('#seed input')?.value === '3'")
    assert page.input_value("#bucket input").startswith("bucket ")  # of the second visitor too
    (tmp_path / "bad.csv").write_bytes(b"text\n" + bytes(range(128, 256)))  # text in no encoding
    page.set_input_files("#human_file input[type=file]", str(tmp_path / "bad.csv"))
    page.wait_for_selector("#human_preview :text('save it as UTF-8')")
    page.wait_for_selector("#human_file .upload-container")  # a refused file leaves its box
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", [*MODEL, *[" "] * 5]))
    page.click("#compare")
    message = page.wait_for_selector("#status .error:text('remove them, or set “Empty texts” to “drop”')")
    assert not re.search(r"`|None|[a-z]_[a-z]", message.inner_text())
    place, button = message.bounding_box(), page.locator("#compare").bounding_box()
    assert button["y"] + button["height"] <= place["y"] and page.evaluate(IN_SIGHT, "#compare")
    page.close()
    assert page.complaints == []


@pytest.mark.slow
def test_an_example_needs_no_model_and_visitors_at_one_address_wait_in_turn(
    context: Any, arrived: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoders, read = arrived.handlers.encoders, []
    loaded = encoders.get
    monkeypatch.setattr(encoders, "get", lambda config: (read.append(config.featurize_model_name), loaded(config))[1])
    page, other = (opened(context, arrived.local_url, (1440, 900), reduced_motion="reduce") for _ in range(2))
    open_choices(page)
    page.click("#examples button:has-text('Greedy')")
    page.wait_for_selector("#status [data-result]", state="attached")
    assert page.input_value("#model_1_name input") == "greedy decoding" and "minilm" not in read
    experts(page)
    wait_for_figure(page, "precision_recall")
    # density above 1 leaves the axis at 1
    assert page.locator("#precision_recall .role-axis-label text").all_text_contents().count("1.0") == 2

    going = threading.Event()

    def waiting(texts: list[str]) -> Any:
        going.wait(120)
        return ngrams(texts)

    monkeypatch.setitem(encoders.functions, "slow", waiting)
    for each in (page, other):
        choose(each, "slow")
        upload(each, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
        upload(each, "model", write_jsonl(tmp_path / "model.jsonl", MODEL))
        each.click("#compare")
    other.wait_for_selector("#status :text('1 run before yours, in about')")
    going.set()
    for each in (page, other):
        each.wait_for_selector("#status [data-result]", state="attached")
        each.close()
        assert each.complaints == []


def test_a_link_holds_the_first_screen_marked_as_not_recomputed(context: Any, arrived: Any) -> None:
    page = opened(context, arrived.local_url, (1440, 900), reduced_motion="reduce")
    see_example(page)
    first = ".mm-answer", "#score strong >> nth=0", ".mm-bars > div >> nth=0"
    said = [page.inner_text(part) for part in first]
    page.click("#share")
    box = page.wait_for_selector("#shared_link :is(textarea, input)")
    page.wait_for_function("box => box.value.startsWith('http')", arg=box)
    link = box.input_value()
    assert len(link) < 300 and "shared" not in page.url  # a reload shows the result itself
    go(page, link)
    page.wait_for_selector("#about :text('Shared result, not recomputed')")
    assert [page.inner_text(part) for part in first] == said
    assert page.evaluate(IN_SIGHT, "#about") and not page.is_visible("#pair") and not page.is_visible("#make_files")
    see_example(page)
    page.wait_for_function("!location.search.includes('shared')")
    go(page, f"{arrived.local_url}?shared={quote('<img src=x onerror=alert(1)>')}")
    page.wait_for_selector("#link_problems :text('shared result')")
    assert page.locator("#score p").count() == 0 and page.locator("img[src=x]").count() == 0
    page.close()
    assert page.complaints == []
