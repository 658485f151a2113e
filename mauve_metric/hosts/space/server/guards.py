"""Protection of the server: limits on bodies, answers to errors, a log without texts.

The log has types and places of errors, a line each, never their messages, which may quote a visitor's texts. gradio
(6.31), uvicorn and asyncio report errors by tracebacks of some 600 bytes, which any request could ask for.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from gradio.route_utils import API_PREFIX
from gradio.utils import get_upload_folder
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mauve_metric.hosts.space.limits import Limits, client_of
from mauve_metric.hosts.space.session.sessions import UNFINISHED, bytes_in

logger = logging.getLogger(__name__)

_MOST_THROWN_AWAY = 4  # times the largest body
_LEAST = 2**16  # bytes that any file counts for: what looks for room looks at every file
_SWEPT = 2 * UNFINISHED  # seconds after which nothing is left of an interrupted upload


class ErrorAnswers:
    """ASGI middleware: answer an error that gradio does not handle, and log it in one line.

    gradio (6.31) answers 500 where a call leaves out a parameter or names an unknown one, and where it cannot repeat a
    value that it refuses (NaN, half of a character), and raises within a stream for an event that is not known. A call
    beside the queue (`/run/`) of a value that is refused is answered by 500 there, and by 400 here.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and answer the errors it raises."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_and_note(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if message["status"] == 500 and "/run/" in scope["path"]:  # a value that no control of the page has
                    message = {**message, "status": 400}
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        except Exception as error:
            logger.warning("a request ended with %s", _kind_and_place(error))
            if started:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            of_gradio = type(error).__module__.startswith("gradio.")  # kinds of its own, for requests of nothing here
            status, sentence = 500, "the request could not be answered"
            if isinstance(error, TypeError) and "/call/" in scope["path"]:
                status, sentence = 422, str(error)  # gradio's sentence about names that are missing or unknown
            elif (isinstance(error, KeyError) or of_gradio) and "/call/" in scope["path"]:
                status, sentence = 404, "there is no endpoint of this name"
            elif isinstance(error, _OF_REQUEST) or of_gradio:
                status, sentence = 400, "the request holds a value that cannot be read, or names what is not here"
            await JSONResponse({"detail": sentence}, status)(scope, receive, send)


# Kinds of errors that gradio raises where a request is not one of the page's. Its functions have answered theirs.
_OF_REQUEST = (ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError)


def _kind_and_place(error: BaseException) -> str:
    """The kind of an error and the place where it was raised, without its message."""
    places = traceback.extract_tb(error.__traceback__)[-1:]
    return "".join([type(error).__name__, *(f" at {Path(last.filename).name}:{last.lineno}" for last in places)])


class BodyLimit:
    """ASGI middleware: answer requests with too large a body with 413, without holding them in memory.

    A call of an endpoint may hold all sets of a `/compare`, with what JSON adds to a text; a request to gradio's upload
    route as many files as there are sets, each of which gradio holds to its own limit; any other what one paste box
    may hold. Uploads that the folder of uploads has no room for, or that exceed the share of one client, are answered
    with 507; an upload is known by the address that it comes from, as gradio (6.31) names no session with it.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self.app = app
        self.most_called = 2 * limits.total_bytes
        self.most_pasted = min(2 * limits.bytes, self.most_called)
        self.most_uploaded = (limits.model_sets + 1) * limits.bytes + 2**20  # and the marks between the files
        self.most_in_folder = limits.folder_megabytes * 2**20
        self.most_of_client = limits.client_megabytes * 2**20
        self._arriving: Counter[str] = Counter()  # bytes that uploads in progress may still have, by the client
        self._unfinished: Counter[str] = Counter()  # and those of uploads that may have left something to be swept
        self._clients: dict[Path, str] = {}  # by the whole uploads

    def most_of(self, path: str) -> int:
        """The most bytes that a request to a path may have."""
        if path == _UPLOAD:
            return self.most_uploaded
        return self.most_called if path.startswith(f"{API_PREFIX}/call/") else self.most_pasted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on and count its bytes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        most, too_large = self.most_of(scope["path"]), (413, "a request may have at most {} MB here")
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > most:
            await _refuse(scope, receive, send, most, *too_large)
            return
        if scope["path"] != _UPLOAD:
            if not await self._counted(scope, receive, send, most):
                await _refuse(scope, receive, send, most, *too_large)
            return
        size = int(declared) if b"content-length" in headers else most
        client = client_of(scope.get("client"))
        full = self._full(client, size)
        if full:
            await _refuse(scope, receive, send, most, 507, full)
        elif not await self._uploaded(scope, receive, send, most, size, client):
            await _refuse(scope, receive, send, most, *too_large)

    def _full(self, client: str, size: int) -> str:
        """The sentence that refuses an upload; empty if there is room."""
        taken = self._arriving + self._unfinished
        for path, other in [*self._clients.items()]:
            try:
                taken[other] += max(path.stat().st_size, _LEAST)
            except OSError:  # it was deleted
                del self._clients[path]
        if taken[client] + size > self.most_of_client:
            return (
                f"the uploads of your address fill the {self.most_of_client >> 20} MB that it may have on this server: "
                "remove sets that you do not need from the page, or try again in an hour, when unused files are deleted"
            )
        if bytes_in(Path(get_upload_folder())) + self._arriving.total() + size > self.most_in_folder:
            return "the uploads of all visitors fill this server's folder at the moment: try again in some minutes"
        return ""

    async def _uploaded(self, scope: Scope, receive: Receive, send: Send, most: int, size: int, client: str) -> bool:
        """Pass an upload on, and keep its files until they are read, and whose they are; return as `_counted`."""
        answer, arrival, arrived = bytearray(), ExitStack(), Counter[Path]()

        async def receive_all() -> Message:
            nonlocal arrived
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body", False):  # the files get their names
                arrived = arrival.enter_context(scope["app"].get_blocks().handlers.sessions.arriving())
            return message

        async def send_and_read(message: Message) -> None:
            answer.extend(message.get("body", b""))
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                arrived.update(_files_in(answer) or [])
                arrival.close()  # before the visitor can know of them
            await send(message)

        self._arriving[client] += size
        try:
            return await self._counted(scope, receive_all, send_and_read, most)
        finally:
            arrival.close()
            self._arriving[client] -= size
            files = _files_in(answer)
            if files is not None:
                self._clients |= {path: client for path in files if path not in self._clients}
            else:  # it was interrupted or refused
                self._unfinished[client] += size
                asyncio.get_running_loop().call_later(_SWEPT, self._unfinished.subtract, {client: size})

    async def _counted(self, scope: Scope, receive: Receive, send: Send, most: int) -> bool:
        """Pass a request on; return whether its body, of no declared length, was short enough, and it is answered."""
        seen, started = 0, False

        async def receive_and_count() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            return {"type": "http.disconnect"} if seen > most else message  # as if the visitor had left

        async def send_unless_cut(message: Message) -> None:
            nonlocal started
            if started or seen <= most:
                started = True
                await send(message)

        try:
            await self.app(scope, receive_and_count, send_unless_cut)
        except Exception:
            if seen <= most or started:
                raise
        return seen <= most or started


_UPLOAD = f"{API_PREFIX}/upload"


def _files_in(answer: bytearray) -> list[Path] | None:
    """The files that the answer to an upload names; None where it was interrupted or refused."""
    try:
        files: object = json.loads(answer)
    except ValueError:
        return None
    return [*map(Path, files)] if isinstance(files, list) else None


async def _refuse(scope: Scope, receive: Receive, send: Send, most: int, status: int, detail: str) -> None:
    """Answer a request whose body is not read to its end."""
    thrown = 0  # without reading the body, most clients would only see a broken connection
    while thrown < _MOST_THROWN_AWAY * most:
        message = await receive()
        thrown += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            break
    said = detail.format(most // 2**20)
    is_upload = scope["path"] == _UPLOAD  # whose answer the page shows as it is, as gradio's own are
    answer = PlainTextResponse(said, status) if is_upload else JSONResponse({"detail": said}, status)
    await answer(scope, receive, send)


_OF_SERVER = ("gradio", "uvicorn", "asyncio", "httpx", "httpcore", "starlette", "fastapi", "mcp", "python_multipart")


def _in_one_line(error: traceback.TracebackException, **_: object) -> Iterator[str]:
    """In place of `TracebackException.format`, which everything that writes a traceback calls."""
    kind = getattr(error, "exc_type_str", None) or getattr(error.exc_type, "__name__", "an error")
    places = error.stack[-1:]
    yield "".join([str(kind), *(f" at {Path(last.filename).name}:{last.lineno}" for last in places), "\n"])


def keep_texts_out() -> Callable[[], None]:
    """Make this process write an error in one line, without its message; return a function that undoes it.

    Tracebacks that are printed, records of `logging` with an error, and what the server's packages log, of which the
    first line is kept. Meant for a process that is a server and nothing else.
    """
    of_error = traceback.TracebackException.format
    of_log, of_thread = logging.getLogRecordFactory(), threading.excepthook

    def record(*values: object, **named: object) -> logging.LogRecord:
        """Make a record without the words of its error."""
        record = of_log(*values, **named)
        exc_info = record.exc_info
        error: BaseException | None = exc_info[1] if isinstance(exc_info, tuple) else None
        if error is not None or record.name.split(".")[0] in _OF_SERVER:
            message = record.getMessage()
            for words in (str(error), repr(error), *map(str, error.args)) if error is not None else ():
                message = message.replace(words, "…") if words else message
            record.msg, record.args = message.split("\n")[0], ()
        return record

    def put_back() -> None:
        traceback.TracebackException.format = of_error  # type: ignore[method-assign]
        threading.excepthook = of_thread
        logging.setLogRecordFactory(of_log)

    traceback.TracebackException.format = _in_one_line  # type: ignore[method-assign,assignment]
    threading.excepthook = lambda args: traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)
    logging.setLogRecordFactory(record)
    return put_back
