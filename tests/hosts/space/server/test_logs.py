"""Output of the server's process on stdout and stderr after every kind of failure: no visitor's text."""

from __future__ import annotations

import http.client
import json
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from samples import HUMAN, LIMITS, MODEL, ROOT
from visitors import free_port

pytest.importorskip("gradio")

SECRET = "nobody may read this"
SERVER = """
import asyncio, logging, sys, time
from mauve_metric.hosts.space import page
from samples import LIMITS, ngrams

def broken(texts):
    if texts[0] == "slow":
        time.sleep(2)
    asyncio.new_event_loop().call_exception_handler({"message": "never retrieved", "exception": KeyError(texts[0])})
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=ValueError(texts[0]))
    raise {"KeyError": KeyError, "ValueError": ValueError}.get(texts[-1], ZeroDivisionError)(texts[0])


page.read_limits = lambda environment: LIMITS
build_app, page.build_app = page.build_app, lambda limits: build_app(limits, [], {"broken": broken, "ngrams": ngrams})
page.main()
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    port, log = free_port(), tmp_path_factory.mktemp("server") / "log"
    environment = {
        "GRADIO_SERVER_PORT": str(port),
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        "GRADIO_TEMP_DIR": str(log.parent / "uploads"),
        "PATH": "",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    with (
        log.open("w", encoding="utf-8") as out,
        subprocess.Popen([sys.executable, "-c", SERVER], env=environment, stdout=out, stderr=out) as process,
    ):
        try:
            until = time.monotonic() + 300
            while time.monotonic() < until and process.poll() is None:
                try:
                    ask(port, "GET", "/config")
                    break
                except OSError:
                    time.sleep(0.1)
            yield port, log
        finally:
            process.terminate()


def ask(port: int, method: str, path: str, body: Any = None, kind: str = "application/json") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, path, content, {"Content-Type": kind})
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return answer.status, said


def run(port: int, body: Any, path: str = "score") -> str:
    """The end of a call that is taken."""
    status, said = ask(port, "POST", f"/gradio_api/call/v2/{path}", body)
    assert status == 200, said
    return ask(port, "GET", f"/gradio_api/call/{path}/{json.loads(said)['event_id']}")[1]


@pytest.mark.slow
def test_no_text_reaches_the_log_after_any_failure(server: tuple[int, Path]) -> None:
    port, log = server
    by_name, in_order = "/gradio_api/call/v2/score", "/gradio_api/call/score"
    texts = [SECRET, *HUMAN]
    mistakes: list[tuple[str, Any, int]] = [
        (in_order, {"data": [texts]}, 200),
        (in_order, {"data": [texts] * 12}, 200),
        (in_order, {"data": SECRET}, 422),
        (in_order, {SECRET: []}, 422),
        (by_name, {"references": texts}, 422),
        (by_name, {"references": SECRET, "predictions": MODEL}, 200),
        (by_name, {"references": [[SECRET]], "predictions": MODEL}, 200),
        (by_name, {"references": texts, "predictions": MODEL, SECRET: 1}, 422),
        (by_name, {"references": texts, "predictions": MODEL, "seed": SECRET}, 200),
        (by_name, {"references": ["\ud800" + SECRET], "predictions": MODEL}, 200),
        (by_name, f'{{"references": ["{SECRET}"'.encode(), 422),
        (by_name, f'["{SECRET}"]'.encode(), 422),
        (by_name, f'"\xff{SECRET}"'.encode("latin-1"), 400),
        (by_name, SECRET.encode() * (2 * LIMITS.total_bytes // len(SECRET) + 1), 413),
        (f"/gradio_api/call/v2/{SECRET.replace(' ', '%20')}", {}, 404),
        ("/gradio_api/call/v2/compare", {"references": HUMAN, "models": {SECRET: texts, "b": [SECRET, 3]}}, 200),
        ("/gradio_api/queue/join", {"data": [SECRET], "fn_index": 9999, "session_hash": "a"}, 500),
        ("/gradio_api/queue/join", {"data": [], "fn_index": 0, "session_hash": "a", "event_data": SECRET}, 200),
        ("/gradio_api/queue/join", {"data": SECRET, "fn_index": 0, "session_hash": "a"}, 422),
        ("/gradio_api/queue/join", f'{{"data": "{SECRET}'.encode(), 422),
        ("/gradio_api/run/score", {"data": [texts, texts]}, 404),
    ]
    for path, body, status in mistakes:
        found, said = ask(port, "POST", path, body)
        assert found == status, (path, said)
        if found == 200 and "/call/" in path:  # what gradio lets through, its own checks refuse before it waits
            _, ended = ask(port, "GET", f"/gradio_api/call/score/{json.loads(said)['event_id']}")
            assert "event: error" in ended
    for number in range(12):  # every function of the page, with values that are no values of its inputs
        values = [{"path": SECRET, "meta": {"_type": "gradio.FileData"}}, *[SECRET] * 60]
        ask(port, "POST", "/gradio_api/queue/join", {"data": values, "fn_index": number, "session_hash": f"s{number}"})
        ask(port, "POST", "/gradio_api/run/predict", {"data": values, "fn_index": number, "session_hash": "r"})
    for last in ("KeyError", "ValueError", "another"):  # mistakes of the program, and errors for a visitor
        sets = {"references": [SECRET, *HUMAN, last], "predictions": MODEL, "featurize_model_name": "broken"}
        assert "event: error" in run(port, sets)
    slow = {"references": ["slow", *HUMAN], "predictions": [SECRET], "featurize_model_name": "broken"}
    event = json.loads(ask(port, "POST", by_name, slow)[1])["event_id"]
    function = json.loads(ask(port, "GET", "/config")[1])["dependencies"]
    index = next(item["id"] for item in function if item["api_name"] == "score")
    ask(port, "POST", "/gradio_api/cancel", {"session_hash": event, "fn_index": index, "event_id": event})
    assert "event: complete" in run(port, {"references": texts, "predictions": MODEL, "featurize_model_name": "ngrams"})
    written = log.read_text(encoding="utf-8")
    assert SECRET not in written and "nobody" not in written
    assert "KeyError" in written and "Exception in ASGI application" in written  # kinds and places are there


def test_the_previous_hooks_are_restored(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    import traceback

    from mauve_metric.hosts.space.server.logs import keep_texts_out

    def fail() -> None:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise KeyError(SECRET) from error

    was = traceback.TracebackException.format_exception_only, logging.getLogRecordFactory()
    put_back = keep_texts_out()
    try:
        fail()
    except KeyError:
        traceback.print_exc()
        logging.getLogger("of a visitor").exception("it failed: %s", SECRET)
    finally:
        put_back()
    assert (traceback.TracebackException.format_exception_only, logging.getLogRecordFactory()) == was
    said = capsys.readouterr().err
    assert "KeyError" in said and "the direct cause of" in said and "ValueError" in said and "in fail" in said
    assert SECRET not in said + caplog.text and "it failed: …" in caplog.text
