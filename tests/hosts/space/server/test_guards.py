"""Requests that are refused before gradio sees them, errors that gradio leaves to the server, a log without texts."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from samples import HUMAN, MODEL, ROOT
from visitors import LIMITS, free_port

pytest.importorskip("gradio")

from starlette.responses import JSONResponse

from mauve_metric.hosts.space.server.guards import BodyLimit, ErrorAnswers


def answers(raised: Exception, *, started: bool = False) -> list[dict[str, Any]]:
    """The answer to a client of an application that raises an error, in a stream that has begun or before."""
    sent: list[dict[str, Any]] = []

    async def fails(scope: Any, receive: Any, send: Any) -> None:
        if started:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise raised

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    asyncio.run(ErrorAnswers(fails)({"type": "http", "path": "/gradio_api/queue/join"}, receive, send))
    return sent


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (ValueError("secret words"), 400),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "secret words"), 400),
        (RecursionError("secret words"), 400),
        (KeyError("secret words"), 400),
        (AttributeError("secret words"), 400),
        (RuntimeError("secret words"), 500),
    ],
    ids=lambda item: type(item).__name__,
)
def test_errors_are_answered_in_a_sentence_and_logged_in_a_line(
    raised: Exception, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="mauve_metric"):
        head, body = answers(raised)
    assert head["status"] == status and "secret" not in json.loads(body["body"])["detail"]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"a request ended with {type(raised).__name__} at test_guards.py:")
    assert "secret" not in caplog.text and "Traceback" not in caplog.text


def test_a_stream_that_fails_ends() -> None:
    assert answers(RuntimeError(), started=True)[1:] == [
        {"type": "http.response.body", "body": b"", "more_body": False}
    ]


def test_the_limit_on_a_body_depends_on_the_route() -> None:
    limit = BodyLimit(lambda *_: None, LIMITS)  # type: ignore[arg-type]  # nothing is handed on
    assert limit.most_of("/gradio_api/call/compare") == 2 * LIMITS.total_bytes
    assert limit.most_of("/gradio_api/queue/join") == limit.most_of("/anything") == 2 * LIMITS.bytes
    assert limit.most_of("/gradio_api/upload") == (LIMITS.model_sets + 1) * LIMITS.bytes + 2**20


def post(address: str, path: str, content: object) -> tuple[int, Any]:
    body = content if isinstance(content, bytes | Iterator) else json.dumps(content).encode()
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)
    connection.request("POST", path, body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, json.loads(text) if text.startswith(("{", "[")) else text


def test_the_queue_cannot_be_bypassed(served: Any) -> None:
    assert post(served.local_url, "/gradio_api/run/score", {"data": [HUMAN, MODEL]})[0] == 404
    assert post(served.local_url, "/gradio_api/api/score", {"data": [HUMAN, MODEL]})[0] == 404


@pytest.mark.parametrize("path", ["/upload", "/gradio_api/call/upload", "/anything/upload", "/gradio_api/upload/"])
def test_no_other_path_escapes_the_limit(served: Any, path: str) -> None:
    assert post(served.local_url, path, b" " * (2 * LIMITS.total_bytes + 1))[0] == 413


def test_uploads_have_a_total_limit(served: Any) -> None:
    part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"a" * 2**20 + b"\r\n"
    connection = http.client.HTTPConnection(urlsplit(served.local_url).netloc, timeout=600)
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    connection.request("POST", "/gradio_api/upload", part * (LIMITS.model_sets + 2) + b"--x--\r\n", kind)
    assert connection.getresponse().status == 413


def test_a_body_without_a_length_has_the_same_limit(served: Any) -> None:
    before = post(served.local_url, "/gradio_api/queue/join", iter([b" " * 2**20] * 5))
    assert before == (413, {"detail": "a request may have at most 2 MB here"})


def test_uploads_beyond_the_folder_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    (tmp_path / "earlier").write_bytes(b"a" * 600_000)
    taken: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        taken.append(scope["path"])
        await JSONResponse([])(scope, receive, send)

    limit, sent = BodyLimit(app, replace(LIMITS, folder_megabytes=1)), []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    for size in (400_000, 500_000, None):  # None: not declared
        headers = [] if size is None else [(b"content-length", str(size).encode())]
        asyncio.run(limit({"type": "http", "path": "/gradio_api/upload", "headers": headers}, receive, send))
    assert [message["status"] for message in sent if "status" in message] == [200, 507, 507] and len(taken) == 1
    assert b"fill this server's folder at the moment" in sent[-1]["body"] and limit._arriving.total() == 0


pytest.importorskip("gradio")

SECRET = "nobody may read this"
SERVER = """
import asyncio, logging, sys, time
from mauve_metric.hosts.space import page
from samples import ngrams
from visitors import LIMITS

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
        "GRADIO_ANALYTICS_CACHE_FREQUENCY": os.environ["GRADIO_ANALYTICS_CACHE_FREQUENCY"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}",
        "GRADIO_TEMP_DIR": str(log.parent / "uploads"),
        "PATH": "",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPYCACHEPREFIX": sys.pycache_prefix or "",
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
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
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
        ("/gradio_api/queue/join", {"data": [SECRET], "fn_index": 9999, "session_hash": "a"}, 400),
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
    assert "Traceback" not in written and '  File "' not in written


_ODD: tuple[Any, ...] = (None, True, -1, 1e308, 2**70, "", "x", [], {}, [[]], {"a": 1}, "\ud800", [{"path": 1}])
_BODIES = [
    *(b"", b"{", b"[]", b"null", b"5", b"\xff\xfe", b"[" * 100_000, b'{"data": NaN}', b'{"data": {}, "fn_index": 0}'),
    *(b'{"fn_index": "a"}', b'{"fn_index": 1e400}', b'{"data": [], "fn_index": -1}', b'{"event_id": 5}'),
    *(
        b'{"session_hash": "\\ud800", "fn_index": 0, "data": []}',
        b'{"data": [], "fn_index": 9999, "session_hash": "a"}',
    ),
    b'{"data": [[]], "fn_index": 0, "session_hash": "a", "batched": true, "request": {"a": 1}}',
]


@pytest.mark.slow
def test_no_request_makes_a_traceback_or_a_500(server: tuple[int, Path]) -> None:
    port, log = server
    functions, draw = json.loads(ask(port, "GET", "/config")[1])["dependencies"], random.Random(0)
    before, until = len(log.read_text(encoding="utf-8")), time.monotonic() + 600
    answered: list[tuple[int, str, object]] = []

    def post(path: str, body: object) -> None:
        status, said = ask(port, "POST", path, body)
        while status == 503 and "Queue is full" in said and time.monotonic() < until:  # the right answer, but no test
            time.sleep(0.5)
            status, said = ask(port, "POST", path, body)
        answered.append((status, path, body))

    for function in functions:
        name, lengths = function["api_name"] or "x", [len(function["inputs"]), draw.choice([0, 1, 60])]
        draw.shuffle(lengths)
        for length, others in zip(lengths, (["run/predict", f"run/{name}"], [f"call/{name}"]), strict=True):
            values = [draw.choice(_ODD) for _ in range(length)]
            event = {"data": values, "fn_index": function["id"], "session_hash": f"s{len(answered)}"}
            post("/gradio_api/queue/join", event | {"event_data": draw.choice(_ODD), "trigger_id": draw.choice(_ODD)})
            for path in others:
                post(f"/gradio_api/{path}", {"data": values} if path.startswith("call") else event)
    paths = ("queue/join", "run/predict", "run/none", "cancel", "reset", "component_server", "upload", "queue/data")
    for path in (*paths, "call/score", "call/v2/score", "call/none", "call/v2/none", "startup-events", "none"):
        for body in _BODIES:
            post(f"/gradio_api/{path}", body)
    assert [(status, path, body) for status, path, body in answered if status >= 500] == []
    written = log.read_text(encoding="utf-8")[before:]
    assert "Traceback" not in written and '  File "' not in written
    assert len(written) < 200 * len(answered)


def test_the_previous_hooks_are_restored(capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    import traceback

    from mauve_metric.hosts.space.server.guards import keep_texts_out

    def fail() -> None:
        try:
            raise ValueError(SECRET)
        except ValueError as error:
            raise KeyError(SECRET) from error

    was = traceback.TracebackException.format, logging.getLogRecordFactory()
    put_back = keep_texts_out()
    try:
        fail()
    except KeyError:
        traceback.print_exc()
        logging.getLogger("of a visitor").exception("it failed: %s", SECRET)
    finally:
        put_back()
    assert (traceback.TracebackException.format, logging.getLogRecordFactory()) == was
    said = capsys.readouterr().err
    assert re.fullmatch(r"KeyError at test_guards.py:\d+\n", said)
    assert "Traceback" not in said + caplog.text and "KeyError at test_guards.py" in caplog.text
    assert SECRET not in said + caplog.text and "it failed: …" in caplog.text
