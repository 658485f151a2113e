"""The page where the answers of its server come late, in another order than they were made."""

from __future__ import annotations

import asyncio
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, write_jsonl
from visitors import opened, upload, wait_until

from mauve_metric.hosts.space import view

pytest.importorskip("gradio")
pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.browser
EVENTS = Path(view.__file__).with_name("assets") / "events.js"


# Gradio's end of its stream of answers arrives half a second after the server accepted the next request.
LATE_END = """
    const plain = window.fetch;
    let accepted = 0;
    const encoded = text => new TextEncoder().encode(text);
    window.fetch = async (...request) => {
        const answer = await plain(...request), address = String(request[0].url ?? request[0]);
        if (address.includes('/queue/join')) accepted++;
        if (!address.includes('/queue/data')) return answer;
        return new Response(answer.body.pipeThrough(new TransformStream({async transform(piece, to) {
            const text = new TextDecoder().decode(piece);
            const end = text.includes('close_stream') ? text.lastIndexOf('data:') : text.length;
            if (end) to.enqueue(encoded(text.slice(0, end)));
            if (end === text.length) return;
            while (accepted < 2) await new Promise(done => setTimeout(done, 20));
            await new Promise(done => setTimeout(done, 500));
            window.lateEnds = (window.lateEnds || 0) + 1;
            to.enqueue(encoded(text.slice(end)));
        }})), answer);
    };"""
# A server of which `say` is an answer in its last stream, and `end` the end of that.
FAKE_SERVER = """() => {
    const streams = window.streams = [];
    const stream = () => new ReadableStream({start: stream => { streams.push(stream); }});
    window.fetch = async address => new Response(
        address.startsWith('/queue/join') ? JSON.stringify({event_id: address.at(-1)}) : window.broken || stream(),
        {status: window.broken ? 503 : 200});
    window.say = (msg, event_id) => streams.at(-1).enqueue(
        new TextEncoder().encode(`data: ${JSON.stringify({msg, event_id})}\\n\\n`));
    window.end = () => { say('close_stream'); streams.at(-1).close(); };
    window.opened = async () => (await fetch('/queue/data')).text().catch(() => 'lost');
}"""
STREAMS = {
    "an answer comes before the server's word that it accepted the request": """async () => {
        const text = opened();
        await fetch('/queue/join?1');
        say('process_completed', '2');
        await new Promise(done => setTimeout(done, 50));
        await fetch('/queue/join?2');
        say('process_completed', '1');
        end();
        return [(await text).split('close_stream').length, streams.length];
    }""",
    "a lost server owes nothing": """async () => {
        const lost = opened();
        await fetch('/queue/join?1');
        streams.at(-1).error(new Error('gone'));
        await lost;
        const text = opened();
        await fetch('/queue/join?2');
        say('process_completed', '2');
        end();
        return [(await text).split('close_stream').length, streams.length - 1];
    }""",
    "an error in place of the next stream is a lost server": """async () => {
        const text = opened();
        await fetch('/queue/join?1');
        window.broken = 'busy';
        end();
        return [2 * (await text === 'lost'), streams.length];
    }""",
}
# The functions that events of the page call, and those that were there when its first box was.
EARLY = """
    new MutationObserver(() => {
        if (!window.early && document.querySelector('#human_file'))
            window.early = Object.keys(window).filter(name => name.startsWith('mauve'));
    }).observe(document, {childList: true, subtree: true});"""


def test_an_answer_is_read_that_the_server_promised_before_its_stream_ended(
    browser: Any, served: Any, tmp_path: Path
) -> None:
    context = browser.new_context()
    context.set_default_timeout(600_000)
    context.add_init_script(LATE_END)
    page = opened(context, served.local_url)
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", MODEL))
    page.click("#compare")
    page.wait_for_selector("#score strong")
    assert page.evaluate("window.lateEnds") > 0
    context.close()
    assert page.complaints == []


@pytest.mark.parametrize("story", STREAMS)
def test_a_stream_ends_with_its_last_answer(browser: Any, story: str) -> None:
    page = browser.new_page()
    page.evaluate(FAKE_SERVER)
    page.evaluate(f"() => {{{EVENTS.read_text(encoding='utf-8')}}}")
    assert page.evaluate(STREAMS[story]) == [2, 1]
    page.close()


def test_events_find_their_functions_as_soon_as_there_is_a_box(browser: Any, served: Any) -> None:
    context = browser.new_context()
    context.add_init_script(EARLY)
    page = opened(context, served.local_url)
    called = {
        name for event in served.config["dependencies"] for name in re.findall(r"window\.(mauve\w+)", event["js"] or "")
    }
    assert len(called) > 5 and called <= {*page.evaluate("window.early")}
    context.close()


@pytest.fixture
def shown_again(served: Any, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What the server answered to a page that shows an earlier change."""
    answers: list[object] = []
    again = served.handlers.texts_again
    monkeypatch.setattr(served.handlers, "texts_again", lambda session: (answers.append(session), again(session))[1])
    return answers


def hold(patch: pytest.MonkeyPatch, path: str, *, answered: bool = True) -> threading.Event:
    """Hold back the next request to a path, or only its answer, until the event is set."""
    from mauve_metric.hosts.space.server.guards import BodyLimit

    going, held, call = threading.Event(), [], BodyLimit.__call__

    async def until_going() -> None:
        while not going.is_set():
            await asyncio.sleep(0.05)

    async def late(limit: Any, scope: Any, receive: Any, send: Any) -> None:
        async def send_late(message: Any) -> None:
            await until_going()
            await send(message)

        if held or not str(scope["path"]).endswith(path):
            await call(limit, scope, receive, send)
            return
        held.append(scope)
        if not answered:
            await until_going()
        await call(limit, scope, receive, send_late)

    patch.setattr(BodyLimit, "__call__", late)
    return going


def test_the_answer_to_an_earlier_change_hides_no_later_one(
    context: Any, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown_again: list[object]
) -> None:
    page = opened(context, served.local_url)
    page.wait_for_function("sessionStorage.getItem('mauve_metric_key')")
    going = hold(monkeypatch, "/queue/join")
    page.set_input_files("#human_file input[type=file]", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    page.click("#human_file [aria-label^=Clear]")
    page.set_input_files("#human_file input[type=file]", write_jsonl(tmp_path / "other.jsonl", HUMAN[1:]))
    page.wait_for_selector("#human_preview :text('other.jsonl')")
    going.set()
    wait_until(lambda: bool(shown_again))
    page.wait_for_selector("#human_preview :text('other.jsonl')")
    page.close()
    assert page.complaints == []


@pytest.mark.parametrize("answered", [True, False])
def test_a_file_that_is_chosen_while_the_page_is_opened_again_stays_beside_what_was_there(
    context: Any,
    served: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    shown_again: list[object],
    answered: bool,
) -> None:
    page = opened(context, served.local_url)
    page.on("dialog", lambda asked: asked.accept())
    upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    going = hold(monkeypatch, "/queue/join", answered=answered)
    page.reload()
    page.complaints.clear()  # of the requests that the reload cut off
    upload(page, "model", write_jsonl(tmp_path / "model.jsonl", MODEL))
    going.set()
    page.wait_for_selector("#human_preview :text('human.jsonl')")
    wait_until(lambda: len(shown_again) >= answered)  # also where a check comes after the next change
    page.wait_for_selector("#model_1_preview li")
    page.click("#compare")
    page.wait_for_selector("#score strong")
    page.close()
    assert page.complaints == []


@pytest.mark.parametrize(
    ("path", "shown", "box"), [("/upload", "Uploading", "human"), ("/queue/join", "beam", "model")]
)
def test_a_comparison_waits_for_the_files_on_their_way_and_for_the_answers_to_them(
    context: Any, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, shown: str, box: str
) -> None:
    page = opened(context, served.local_url)
    if box == "model":
        upload(page, "human", write_jsonl(tmp_path / "human.jsonl", HUMAN))
    upload(page, "model", write_jsonl(tmp_path / "greedy.jsonl", MODEL))
    going = hold(monkeypatch, path, answered=False)
    page.set_input_files(f"#{box}_file input[type=file]", write_jsonl(tmp_path / "beam.jsonl", MODEL[1:]))
    page.wait_for_selector(f"#{box}_file :text('{shown}')")
    page.click("#compare")
    page.wait_for_timeout(500)
    assert not any(session.run for session in served.handlers.sessions._sessions.values())
    going.set()
    page.wait_for_selector("#score strong")
    if box == "model":
        page.wait_for_selector("#score :text('beam')")
        assert page.input_value("#model_2_name input") == "beam"
