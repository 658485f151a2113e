"""Requests that are refused before gradio sees them, and errors that gradio leaves to the server."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
from typing import Any
from urllib.parse import urlsplit

import pytest
from samples import HUMAN, LIMITS, MODEL

pytest.importorskip("gradio")

from mauve_metric.hosts.space.server.middleware import BodyLimit, ErrorAnswers


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

    asyncio.run(ErrorAnswers(fails)({"type": "http"}, receive, send))
    return sent


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (ValueError("secret words"), 400),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "secret words"), 400),
        (RecursionError("secret words"), 400),
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
    assert record.getMessage().startswith(f"a request ended with {type(raised).__name__} at test_middleware.py:")
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
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
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
    connection = http.client.HTTPConnection(urlsplit(served.local_url).netloc, timeout=120)
    kind = {"Content-Type": "multipart/form-data; boundary=x"}
    connection.request("POST", "/gradio_api/upload", part * (LIMITS.model_sets + 2) + b"--x--\r\n", kind)
    assert connection.getresponse().status == 413
