"""Judges and visitors by the requests of their browsers, and programs beside them: what each gets."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, MODEL, ngrams
from visitors import SERVED, free_port, wait_until

pytest.importorskip("gradio")
gradio_client = pytest.importorskip("gradio_client")
pytestmark = pytest.mark.slow


class Pages:
    """A server, and calls of its buttons as a browser makes them."""

    def __init__(self, featurizer: Callable[[list[str]], Any] = ngrams, **limits: int) -> None:
        import app
        from mauve_metric.hosts.space.limits import Limits

        chosen = replace(Limits(), **limits)
        self.demo, self.port = app.build_app(chosen, [], {"ngrams": featurizer}), free_port()
        self.demo.launch(**(app.launch_options(chosen) | SERVED | {"server_port": self.port}))

    def press(self, button: str, who: str, *values: Any, **named: Any) -> dict[str, Any]:
        """The values of the parts that the button changes, by their names, or its error.

        named: of inputs by their names, in place of `values`; the others are as the page opens with them.
        """
        part = next(number for number, part in self.demo.blocks.items() if part.elem_id == button)
        number, event = next(
            (number, event)
            for number, event in self.demo.fns.items()
            if (part, "click") in [tuple(target[:2]) for target in event.targets]
        )
        if event.fn is None:  # what follows it is the server's
            number, event = next(
                (after, then) for after, then in self.demo.fns.items() if then.trigger_after == number and then.fn
            )
        if named:
            values = tuple(named.get(part.elem_id, getattr(part, "value", None)) for part in event.inputs)
        names = [output.elem_id for output in event.outputs]
        body = json.dumps({"data": values, "fn_index": number, "session_hash": who})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        kind = {"Content-Type": "application/json"}
        if event.queue is False:
            connection.request("POST", "/gradio_api/run/predict", body, kind)
            return dict(zip(names, json.load(connection.getresponse())["data"], strict=True))
        connection.request("POST", "/gradio_api/queue/join", body, kind)
        assert connection.getresponse().read().startswith(b'{"event_id"')
        connection.request("GET", f"/gradio_api/queue/data?session_hash={who}")
        for line in connection.getresponse():
            message = json.loads(line[5:]) if line.startswith(b"data:") else {}
            if message.get("msg") == "process_completed":
                answer = message["output"]
                return dict(zip(names, answer["data"], strict=True)) if message["success"] else dict(answer)
        raise AssertionError("no answer")


def test_programs_and_pages_of_one_address_share_its_part_of_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    released = threading.Event()

    def held(texts: list[str]) -> Any:
        released.wait(120)
        return ngrams(texts)

    pages = Pages(held, waiting=5, waiting_each=2)
    turns, texts = pages.demo.handlers.turns, {"human_paste": "\n".join(HUMAN), "model_paste": "\n".join(MODEL)}
    program = gradio_client.Client(pages.demo.local_url, verbose=False)

    def ask(api: bool) -> Any:
        if api:
            return program.submit(references=HUMAN, predictions=MODEL, num_buckets=4, api_name="/score")
        return threads.submit(pages.press, "compare", f"visitor{next(numbers)}", num_buckets=4, **texts)

    numbers = itertools.count()
    with ThreadPoolExecutor(8) as threads, ExitStack() as at_the_end:
        at_the_end.callback(released.set)
        for mixed, one_more in (((False, True, True), False), ((False, False, True), True)):
            released.clear()
            runs = []
            for number, api in enumerate(mixed, 1):
                runs.append(ask(api))
                wait_until(lambda number=number: len(turns._tickets) == number)  # type: ignore[misc]
            refused = ask(one_more)
            said = str(refused.exception(120)) if one_more else refused.result(120)["error"]
            assert said.startswith("3 runs from your address wait already")
            released.set()
            assert all(run.result(120).get("error") is None for run in runs)
    pages.demo.close()


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pages]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    pages = Pages(waiting=500)
    yield pages
    pages.demo.close()


def test_fifty_judges_and_visitors_lose_nothing(pages: Pages) -> None:
    """More than the 40 threads that a server of Gradio has."""

    def judge(number: int) -> dict[str, Any]:
        kept = pages.press("judge_start", f"judge{number}", {}, f"j{number}", None, None)["judge_kept"]
        pages.press("stop", f"visitor{number}")
        return dict(pages.press("machine", f"judge{number}", kept, "")["judge_kept"])

    with ThreadPoolExecutor(50) as threads:
        kept = list(threads.map(judge, range(50)))
    assert [(left["rater"], len(left["boundaries"])) for left in kept] == [(f"j{number}", 1) for number in range(50)]


def test_no_answer_of_a_tab_counts_for_a_text_that_it_does_not_show(pages: Pages) -> None:
    here = pages.press("judge_start", "here", {}, "ann", None, None)
    there = pages.press("answer_0", "there", here["judge_kept"])["judge_kept"]
    behind = pages.press("machine", "here", here["judge_kept"], "")
    assert "This page was behind" in behind["boundary_said"] and behind["judge_kept"]["place"] == there["place"]
    assert behind["pair_shown"] not in (here["pair_shown"], "")  # the next pair is shown before an answer counts for it
    anew = pages.press("judge_start", "there", there, "ann", None, None)
    behind = pages.press("machine", "here", anew["judge_kept"] | {"place": there["place"]}, "")
    assert "This page was behind" in behind["boundary_said"] and behind["boundary_shown"] == anew["boundary_shown"]
    assert len(behind["judge_kept"]["preferences"]) == 1 and not behind["judge_kept"]["boundaries"]


def test_an_answer_after_the_texts_are_gone_shows_the_reason_and_both_tables(pages: Pages) -> None:
    kept = pages.press("judge_start", "a", {}, "ann", None, None)["judge_kept"]
    kept = pages.press("machine", "a", kept, "")["judge_kept"]
    for button, values in (("machine", [""]), ("answer_0", [])):
        shown = pages.press(button, "a", kept | {"key": "of an earlier server"}, *values)
        assert "an hour passed without an answer" in shown["boundary_shown"]
        assert shown["machine"]["interactive"] is False and "(1 judged)" in shown["boundary_save"]["value"]
