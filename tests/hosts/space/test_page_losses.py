"""The page where its server has lost what it shows, the connection breaks, or several things are done at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams, write_jsonl
from visitors import LIMITS, SERVED, free_port, opened, upload, wait_until

from mauve_metric.hosts.space.session.uploads import TextSet

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server that keeps the texts of one visitor at a time."""
    import app

    limits = replace(LIMITS, sessions=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        demo = app.build_app(limits, [], {"ngrams": ngrams})
        demo.launch(**app.launch_options(limits) | SERVED | {"server_port": free_port()})
        yield demo
        demo.close()


def push_out(server: Any) -> None:
    """Come as another visitor, whose texts take the place of all others'."""
    for name in ("second", "third"):
        server.handlers.sessions.get(name).human = TextSet("people", "human.txt", ["one"])


def test_the_first_action_after_a_loss_says_why_whatever_it_is(context: Any, narrow: Any, tmp_path: Path) -> None:
    page = opened(context, narrow.local_url)
    page.on("dialog", lambda asked: asked.accept())
    files = {name: write_jsonl(tmp_path / f"{name}.jsonl", MODEL) for name in ("greedy", "beam", "third")}
    lost = ".toast-body:has-text('not here any more: this server keeps the texts of 1 visitors at a time')"

    def add() -> None:
        page.set_input_files("#model_file input[type=file]", files["third"])
        page.wait_for_selector("#model_2", state="hidden")  # the others are not there any more

    actions = {
        "rename": lambda: (page.fill("#model_1_name input", "new"), page.press("#model_1_name input", "Enter")),
        "remove": lambda: page.click("#model_2_remove"),
        "compare": lambda: page.click("#compare"),
        "add": add,
    }
    for name, action in actions.items():
        upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
        upload(page, "model", files["greedy"], files["beam"])
        push_out(narrow)
        action()
        page.wait_for_selector(lost)
        first = {"rename": "new", "add": "third"}.get(name, "greedy")
        assert page.input_value("#model_1_name input") == first and page.is_visible("#model_2") == (name != "add")
        page.reload()  # what was chosen after the loss is there
        page.wait_for_selector("#compare")
        if name == "add":
            page.wait_for_selector("#model_1_preview li")
            assert page.input_value("#model_1_name input") == "third"
    page.close()


def test_what_is_chosen_while_another_file_is_read_counts_too(
    context: Any, narrow: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mauve_metric.hosts.space.view import text_handlers

    page = opened(context, narrow.local_url)
    reading, going, read = threading.Event(), threading.Event(), text_handlers.read_upload

    def late(*values: Any, **more: Any) -> TextSet:
        reading.set()
        assert going.wait(120)
        return read(*values, **more)

    def begin(box: str, file: str) -> None:
        for event in (reading, going):
            event.clear()
        page.set_input_files(f"#{box}_file input[type=file]", file)
        assert reading.wait(120)

    monkeypatch.setattr(text_handlers, "read_upload", late)
    first, other = (write_jsonl(tmp_path / f"{name}.jsonl", texts) for name, texts in (("one", HUMAN), ("two", MODEL)))
    begin("human", first)
    page.click("#human_file [aria-label^=Clear]")
    page.set_input_files("#human_file input[type=file]", other)
    page.wait_for_selector("#human_file :text('two')")
    going.set()
    page.wait_for_selector("#human_preview :text('two.jsonl')")
    page.click("#human_file [aria-label^=Clear]")
    begin("human", first)
    page.click("#human_file [aria-label^=Clear]")
    going.set()
    # a set whose removal is not answered for yet has the column of an equal file
    wait_until(lambda: [*narrow.handlers.sessions._sessions.values()][-1].edition >= 7, 600)  # and the arrival
    begin("model", first)
    page.set_input_files("#model_file input[type=file]", other)
    page.wait_for_selector("#model_file :text('two')")
    going.set()
    page.wait_for_selector("#model_2_preview li")
    page.wait_for_selector("#model_file .upload-container")  # the box is empty
    assert [page.input_value(f"#model_{number}_name input") for number in (1, 2)] == ["one", "two"]
    assert page.locator("#model_problem .mm-problem").count() == 0

    edition = "#edition :is(input, textarea)"
    page.evaluate(  # as if the answer to an earlier change had come last
        "part => { const box = document.querySelector(part); box.value = '1'; box.dispatchEvent(new Event('input')); }",
        edition,
    )
    page.wait_for_function("part => Number(document.querySelector(part).value) > 1", arg=edition)

    answers, shown = [], narrow.handlers._models_shown
    monkeypatch.setattr(
        narrow.handlers, "_models_shown", lambda *given: (answers.append(shown(*given)), answers[-1])[1]
    )
    page.evaluate("for (const number of [1, 2]) document.querySelector(`#model_${number}_remove`).click()")
    wait_until(lambda: len(answers) >= 2, 600)  # of which the other is for what another set has taken the place of
    assert sum(len(session.models) for session in narrow.handlers.sessions._sessions.values()) == 1
    page.wait_for_selector("#model_2", state="hidden")
    page.wait_for_selector("#model_1_preview li")
    page.close()
    assert page.complaints == []
