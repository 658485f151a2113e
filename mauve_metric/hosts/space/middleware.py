"""What is refused before gradio sees it: bodies that are too large, and calls of the endpoints that are mistaken."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import anyio.to_thread
from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mauve_metric.hosts.space.limits import Limits
from mauve_metric.results.wording.words import listed

if TYPE_CHECKING:
    from mauve_metric.hosts.space.endpoints import Endpoints

logger = logging.getLogger(__name__)

_MOST_THROWN_AWAY = 4  # times the largest body


class Refused(Exception):
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


async def answer(send: Send, status: int, sentence: str) -> None:
    """Answer a request as gradio answers those that it refuses."""
    detail = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(detail)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": detail})


class ErrorAnswers:
    """ASGI middleware: an error that gradio leaves to the server is answered, and logged in one line.

    gradio (6.31) answers 500 where it cannot repeat a value that it refuses (NaN, half of a character), and raises
    within a stream for an event that is not known; uvicorn writes a traceback of some 6 kB for each.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and answer what it raises."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def noted(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception as error:
            logger.warning("a request ended with %s at %s", type(error).__name__, _place(error))
            if started:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            elif isinstance(error, (ValueError, RecursionError)):
                await answer(send, 400, "the request holds a value that cannot be read: expected JSON without NaN")
            else:
                await answer(send, 500, "the request could not be answered")


def _place(error: BaseException) -> str:
    """The file and line of the last call, without any words of the error."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno}" if frames else "an unknown place"


class BodyLimit:
    """ASGI middleware: requests with a larger body than allowed are answered 413 and never held in memory.

    A call of an endpoint may hold all sets of a `/compare`, with what JSON adds to a text; a request to gradio's upload
    route as many files as there are sets, each of which gradio holds to its own limit; any other what one paste box
    may hold.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.most_called = 2 * limits.total_bytes
        self.most_pasted = min(2 * limits.bytes, self.most_called)
        self.most_uploaded = (limits.model_sets + 1) * limits.bytes + 2**20  # and the marks between the files

    def most_of(self, path: str) -> int:
        """The most bytes that a request to a path may have."""
        if path == f"{API_PREFIX}/upload":
            return self.most_uploaded
        return self.most_called if path.startswith(f"{API_PREFIX}/call/") else self.most_pasted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, counting its bytes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most = self.most_of(scope["path"])
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            await self._refuse(most, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            # a body without a declared length is cut off, as if the visitor had left
            return {"type": "http.disconnect"} if seen > most else message

        await self.app(scope, counted, send)

    async def _refuse(self, most: int, receive: Receive, send: Send) -> None:
        """Answer 413 once the body was thrown away, without which most clients would only see a broken connection."""
        thrown = 0
        while thrown < _MOST_THROWN_AWAY * most:
            message = await receive()
            thrown += len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body", False):
                break
        await answer(send, 413, f"a request may have at most {most // 2**20} MB here")


class Called(NamedTuple):
    """Which endpoint a request calls, and whether its values come by their names."""

    name: str
    by_name: bool


class CallCheck:
    """ASGI middleware: a mistaken call of an endpoint is answered 4xx with a sentence, before it waits in the queue.

    Values may come by name (`/call/v2/score`, a JSON object) or in order (`/call/score`, a list under "data", of which
    those with a default may be left out); gradio itself (6.31) answers 500 for a name that is missing or unknown.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on if it is no call, or one that can be answered."""
        called = _called(scope)
        if called is None:
            await self.app(scope, receive, send)
            return
        body = await _whole(receive)
        if body is None:  # cut off: by `BodyLimit`, or by a client that has gone
            await answer(send, 413, "the request ended before its body did, or it has more than is taken here")
            return
        try:
            endpoints = scope["app"].get_blocks().handlers.endpoints
            given = await anyio.to_thread.run_sync(checked, called, body, endpoints)
        except Refused as refused:
            await answer(send, refused.status, str(refused))
            return
        await self.app(_of_length(scope, len(given)), _replayed(given, receive), send)


def checked(called: Called, body: bytes, endpoints: Endpoints) -> bytes:
    """The body of a call with all values in it.

    Raises:
        Refused: 404 for another endpoint, 400 for no JSON, 422 for values that cannot be taken.
    """
    if called.name not in endpoints.names:
        names = listed([f"/{name}" for name in endpoints.names])
        raise Refused(404, f"there is no endpoint of this name: there are {names}")
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:  # of which a broken encoding is one
        raise Refused(400, "the body must be JSON, and cannot be read as such") from error
    if not isinstance(content, dict):
        raise Refused(422, f"the body must be a JSON object, got {type(content).__name__}")
    known = list(endpoints.parameters(called.name))
    arguments = dict(content) if called.by_name else _in_order(known, content)
    try:
        endpoints.job(called.name, arguments)
    except (ValueError, TypeError) as error:
        sentence = " ".join(str(error).split())[:600]
        raise Refused(422, sentence.encode("utf-8", "backslashreplace").decode()) from error
    if called.by_name:
        return body
    parameters = endpoints.parameters(called.name)
    values = [arguments.get(name, parameters[name].default) for name in known]
    return body if len(content["data"]) == len(known) else json.dumps(content | {"data": values}).encode()


def _in_order(known: Sequence[str], content: Mapping[str, object]) -> dict[str, object]:
    values = content.get("data")
    if not isinstance(values, list):
        raise Refused(422, f"the body must hold a list of values under 'data': {', '.join(known)}, in this order")
    if len(values) > len(known):
        raise Refused(422, f"at most {len(known)} values are expected ({', '.join(known)}), got {len(values)}")
    return dict(zip(known, values, strict=False))


def _called(scope: Scope) -> Called | None:
    if scope["type"] != "http" or scope["method"] != "POST":
        return None
    path = scope["path"].removeprefix(scope.get("root_path", "")).rstrip("/")
    if not path.startswith(f"{API_PREFIX}/call/"):
        return None
    *version, name = path.removeprefix(f"{API_PREFIX}/call/").split("/")
    return Called(name, version == ["v2"]) if version in ([], ["v2"]) else None


async def _whole(receive: Receive) -> bytes | None:
    """The body of a request; None if it never came to its end."""
    parts = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, as if it came now."""
    waiting = [body]

    async def replayed() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replayed


def _of_length(scope: Scope, length: int) -> Scope:
    headers = [item for item in scope["headers"] if item[0] != b"content-length"]
    return {**scope, "headers": [*headers, (b"content-length", str(length).encode())]}
