"""Clients that hang up, never listen, ask for too much or too often: everybody else is served all the same."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from samples import HUMAN, LIMITS, MODEL, ngrams
from visitors import SERVED, free_port, wait_until

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.run import Cancelled, Run
from mauve_metric.hosts.space.scoring import Encoders, embed, spend_tokens

gradio_client = pytest.importorskip("gradio_client")
pytest.importorskip("gradio")

SECRET = "nobody may read this"
OPTIONS = [None, 25, 5, 0.95, "error", "slow"]  # of an endpoint, in its order


class Slow:
    """A featurizer that reads slow texts until it is released, or the server knows that nobody waits for them."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()
        self.calls = 0

    def __call__(self, texts: list[str]) -> np.ndarray:
        from mauve_metric.hosts.space.clients import client_gone

        self.calls += 1
        if texts[0].startswith("slow"):
            gone = client_gone()
            self.begun.set()
            with suppress(AssertionError):  # it goes on, which the number of calls shows
                wait_until(lambda: self.released.is_set() or gone())
        return ngrams(texts)

    def reset(self) -> None:
        self.calls = 0
        self.begun.clear()
        self.released.clear()


@pytest.fixture(scope="module")
def slow() -> Slow:
    return Slow()


@pytest.fixture(scope="module")
def site(slow: Slow, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    import app

    limits = replace(LIMITS, waiting_each=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("uploads")))
        patch.setattr("mauve_metric.hosts.space.clients._PATIENCE", 0.3)
        demo = app.build_app(limits, [], {"slow": slow})
        options = app.launch_options(limits) | SERVED | {"server_port": free_port()}
        demo.queue(max_size=limits.waiting).launch(**options)
        yield demo.local_url
        demo.close()


def post(address: str, path: str, content: object) -> tuple[int, Any]:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, json.loads(text) if text.startswith(("{", "[")) else text


def ask(address: str, references: list[str], predictions: list[str]) -> tuple[int, Any]:
    return post(address, "/gradio_api/call/score", {"data": [references, predictions, *OPTIONS]})


def stream(address: str, event: str) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    connection.request("GET", f"/gradio_api/call/score/{event}")
    return connection


def slow_sets() -> tuple[list[str], list[str]]:
    return [f"slow {text}" for text in HUMAN], [f"slow {text}" for text in MODEL]


@pytest.mark.parametrize("how", ["hangs up", "never listens"])
def test_a_run_ends_when_its_client_has_gone(site: str, slow: Slow, how: str) -> None:
    slow.reset()
    status, answer = ask(site, *slow_sets())
    assert status == 200
    connection = stream(site, answer["event_id"]) if how == "hangs up" else None
    assert slow.begun.wait(120)
    if connection is not None:
        connection.close()
    own = gradio_client.Client(site, verbose=False)
    assert own.predict(references=HUMAN, predictions=MODEL, api_name="/score")["n_p"] == len(HUMAN)
    assert slow.calls == 3  # of the run that nobody waits for, the human texts alone were read


def test_a_client_that_cancels_stops_its_run(site: str, slow: Slow) -> None:
    slow.reset()
    own = gradio_client.Client(site, verbose=False)
    own.submit(*slow_sets(), api_name="/score")
    assert slow.begun.wait(120)
    wait_until(lambda: bool(own.pending_event_ids))  # it may begin before the client has read so
    (event,) = own.pending_event_ids
    body = {"session_hash": own.session_hash, "fn_index": own._infer_fn_index("/score", None), "event_id": event}
    assert post(site, "/gradio_api/cancel", body)[0] == 200  # the client's own `cancel` waits for the next message
    other = gradio_client.Client(site, verbose=False)
    assert other.predict(references=HUMAN, predictions=MODEL, api_name="/score")["n_p"] == len(HUMAN)
    assert slow.calls == 3


def test_one_client_has_few_runs_in_the_queue(site: str, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mauve_metric.hosts.space.clients._PATIENCE", 120)
    slow.reset()
    found = [ask(site, *slow_sets()) for _ in range(5)]
    assert [status for status, _ in found] == [200, 200, 200, 429, 429]
    assert found[-1][1]["detail"].startswith("at most 3 runs of one client wait here: ask again in about ")
    streams = [stream(site, answer["event_id"]) for status, answer in found if status == 200]
    slow.released.set()
    for connection in streams:
        assert b"event: complete" in connection.getresponse().read()
    status, answer = ask(site, HUMAN, MODEL)
    assert status == 200
    assert b"event: complete" in stream(site, answer["event_id"]).getresponse().read()


def test_runs_take_turns() -> None:
    from types import SimpleNamespace

    from mauve_metric.hosts.space.clients import RUNS, Turns

    def run(name: str) -> Any:
        client = SimpleNamespace(host=name[0])
        return SimpleNamespace(_id=name, concurrency_id=RUNS, request=SimpleNamespace(client=client))

    import app

    queue = app.build_app(LIMITS, ["minilm"])._queue
    assert isinstance(queue, Turns)
    queue.active_jobs = [[run("a0")], None]
    waiting = [run(name) for name in ("a1", "a2", "b1", "b2", "c1")]
    queue.event_queue_per_concurrency_id = {RUNS: SimpleNamespace(queue=waiting)}  # type: ignore[dict-item]
    queue._sort()
    assert [event._id for event in waiting] == ["b1", "c1", "a1", "b2", "a2"]


def test_a_full_queue_says_how_long_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from fastapi import HTTPException

    import app
    from mauve_metric.hosts.space.clients import RUNS, Turns

    def run(name: str) -> Any:
        client = SimpleNamespace(host=name[0])
        return SimpleNamespace(_id=name, concurrency_id=RUNS, request=SimpleNamespace(client=client))

    monkeypatch.setattr("mauve_metric.hosts.space.clients.time.time", lambda: 1000.0)
    queue = app.build_app(LIMITS, ["minilm"]).queue(max_size=3)._queue
    assert isinstance(queue, Turns)
    function = next(item for item in queue.blocks.fns.values() if item.api_name == "score")
    queue.active_jobs = [[run("a0")]]
    waiting = SimpleNamespace(queue=[run(name) for name in ("b1", "c1", "d1")], start_times_per_fn={function: {990.0}})
    queue.event_queue_per_concurrency_id = {RUNS: waiting}  # type: ignore[dict-item]

    def refused(public: bool) -> HTTPException:
        with pytest.raises(HTTPException) as caught:
            queue._check_room("e", public)
        return caught.value

    assert refused(True).detail == "3 runs wait here already, the most that may: ask again when one has ended"
    for seconds in (40, 60):  # 50 in the mean
        queue.process_time_per_fn[function].add(seconds)
    # the run at work has 40 seconds to go, and then three wait with 50 each
    said = "3 runs wait here already, the most that may, for about 3 minutes in all: ask again in about 40 seconds"
    assert refused(True).detail == refused(False).detail == said
    assert refused(True).headers == {"Retry-After": "40"}
    assert [refused(public).status_code for public in (True, False)] == [503, 429]  # the page shows the words of a 429


def test_the_queue_cannot_be_passed_by(site: str) -> None:
    assert post(site, "/gradio_api/run/score", {"data": [HUMAN, MODEL]})[0] == 404
    assert post(site, "/gradio_api/api/score", {"data": [HUMAN, MODEL]})[0] == 404


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb"])
def test_half_a_character_in_a_name_is_refused(site: str, name: str) -> None:
    values = [HUMAN, {name: MODEL, "b": MODEL}, False, *OPTIONS]
    status, answer = post(site, "/gradio_api/call/compare", {"data": values})
    assert status == 422 and "models: names must be Unicode text, got half of a character in" in answer["detail"]


def test_half_a_character_elsewhere_is_answered(site: str) -> None:
    for values in ([["\ud800", *HUMAN], MODEL, *OPTIONS], [HUMAN, MODEL, *OPTIONS[:4], "\ud800", "slow"]):
        status, answer = post(site, "/gradio_api/call/score", {"data": values})
        assert status == 422 and ("surrogate" in answer["detail"] or "empty_texts" in answer["detail"])


# --- bodies -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/upload", "/gradio_api/call/upload", "/anything/upload", "/gradio_api/upload/"])
def test_no_other_path_escapes_the_limit(site: str, path: str) -> None:
    assert post(site, path, b" " * (2 * LIMITS.total_bytes + 1))[0] == 413


def test_uploads_have_a_limit_in_all(site: str) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"a" * 2**20 + b"\r\n"
    connection = http.client.HTTPConnection(urlsplit(site).netloc, timeout=120)
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    connection.request("POST", "/gradio_api/upload", part * (LIMITS.model_sets + 2) + b"--x--\r\n", kind)
    assert connection.getresponse().status == 413


# --- budgets ------------------------------------------------------------------------------------------------------


def test_a_run_has_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("mauve_metric.hosts.space.run.time.monotonic", lambda: now[0])
    run = Run(seconds=5)
    run.stage(0.1, "reading")
    now[0] = 5.5
    with pytest.raises(ValueError, match="this run was stopped after 5 seconds, the most that one may take here"):
        run.texts_done("texts", 1, 9)


def test_a_run_has_tokens(tiny_gpt2: str) -> None:
    from mauve_metric.features.encoder import load_encoder

    encoder = load_encoder(tiny_gpt2, max_text_length=10)
    spend_tokens(encoder, [["ships " * 50] * 4, ["", 3, "\ud800"]], Run(tokens=43))
    with pytest.raises(ValueError, match="more than 39 tokens together, the most that one run may read here"):
        spend_tokens(encoder, [["ships " * 50] * 2, ["ships " * 50] * 2], Run(tokens=39))
    encoders = Encoders()
    config = encoders.config({"featurize_model_name": tiny_gpt2})
    with pytest.raises(ValueError, match="more than 100 tokens together"):
        embed({"the human texts": HUMAN, "the model's": MODEL}, config, encoders, Run(tokens=100))


def test_a_run_that_waits_for_the_model_can_be_stopped() -> None:
    encoders, calls = Encoders({"ngrams": ngrams}), [0]

    def gone() -> bool:
        calls[0] += 1
        return calls[0] > 2

    config = encoders.config({"featurize_model_name": "ngrams"})
    with encoders.lock, pytest.raises(Cancelled):
        embed({"the human texts": HUMAN, "the model's": MODEL}, config, encoders, Run(gone=gone))


def test_two_small_featurizers_are_on_offer() -> None:
    from mauve_metric.hosts.space.limits import read_limits, read_models

    assert read_models({}) == ["minilm", "ngrams"]
    given = {"MAUVE_METRIC_MAX_SECONDS": "9", "MAUVE_METRIC_MAX_TOKENS": "8", "MAUVE_METRIC_MAX_WAITING_EACH": "7"}
    assert read_limits(given) == Limits(seconds=9, tokens=8, waiting_each=7)
