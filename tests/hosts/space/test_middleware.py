"""Requests that are refused before gradio sees them, and errors that gradio leaves to the server."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from samples import LIMITS

pytest.importorskip("gradio")

from mauve_metric.hosts.space.middleware import BodyLimit, ErrorAnswers


def answers(raised: Exception, *, started: bool = False) -> list[dict[str, Any]]:
    """What a client hears of an application that raises an error, in a stream that has begun or before."""
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
