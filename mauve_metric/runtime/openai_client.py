"""Requests to a server with OpenAI's protocol, several at a time, whose answers are bounded in time and size."""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import json
import os
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from mauve_metric.runtime.checks import check_count, is_bool, wrong
from mauve_metric.runtime.errors import WrongOption, short_message
from mauve_metric.runtime.optional_imports import import_openai

ANSWER_BYTES = 2**20  # of an answer at most, besides what it was asked for
_FOR_ALL = (401, 402, 403, 404, 405, 429)  # statuses that every other request would get as well
_OF_SOME = (400, 413, 422)  # statuses that one text of a request, or the number of texts, may be the reason for
_NAMED = 3  # reasons that a message names
_NOT_SENT = "not sent, since no other one came"
Send = Callable[[Any, Sequence[int]], Coroutine[Any, Any, Any]]


class BadAnswer(Exception):
    """An answer that is not what was asked for."""


class ServerClient:
    """The address, the key and the patience of requests to a server.

    Args:
        url, model, api_key, concurrency, retries, timeout: as in `openai_server`.
        bound: the option that makes an answer shorter, for the message about one that is too long.

    Raises:
        TypeError, ValueError: an argument is not what it should be. ImportError: openai is not there.
    """

    def __init__(
        self, url: str, model: str, api_key: str | None, concurrency: int, retries: int, timeout: float, bound: str
    ) -> None:
        import_openai()
        if not isinstance(model, str) or not model.strip():
            raise wrong("model", "the name that the server has for it", model)
        if is_bool(timeout) or not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
            raise wrong("timeout", "a number of seconds above 0", timeout)
        self.url, self._key, self._timeout, self._bound = base_address(url), _key(api_key), float(timeout), bound
        self._concurrency = check_count("concurrency", concurrency)
        self._retries = check_count("retries", retries, low=0)

    def ask(
        self,
        batches: Iterable[Sequence[int]],
        send: Send,
        keep: Callable[[Sequence[int], Any], None],
        most_bytes: int,
        has_answers: bool = False,
    ) -> tuple[dict[int, str], bool]:
        """Send requests, a few at a time, also where an event loop runs already; an interrupt cancels them.

        A request for several texts that the server refuses is sent again in halves, until each text that it refuses is
        alone. Nothing more is sent after a refusal that concerns all, such as of the key, if no answer came before.

        Args:
            batches: the numbers of the texts of each request. send: sends one by the client, and returns what it asked
                for. keep: called with the numbers of a request and that; its errors end the call.
            most_bytes: of an answer. has_answers: whether one came to an earlier call.

        Returns:
            The reason for each text that failed, by its number, and whether no answer can come.
        """
        work = _Asking(self, send, keep, has_answers)
        _run(work.ask_all(batches, most_bytes))
        return dict(sorted(work.failures.items())), work.is_lost


class _Asking:
    """The requests of one call and their failures."""

    def __init__(
        self, client: ServerClient, send: Send, keep: Callable[[Sequence[int], Any], None], has_answers: bool
    ) -> None:
        self.client, self.send, self.keep, self.has_answers = client, send, keep, has_answers
        self.failures: dict[int, str] = {}
        self.is_lost = False
        self.turns = asyncio.Semaphore(client._concurrency)

    async def ask_all(self, batches: Iterable[Sequence[int]], most_bytes: int) -> None:
        openai, ours = import_openai(), self.client
        settings: dict[str, Any] = {"base_url": ours.url, "max_retries": ours._retries, "timeout": ours._timeout}
        settings["api_key"] = ours._key.value or "EMPTY"  # the client asks for one, a server without keys ignores it
        bounded = _bounded_client(openai, ours._timeout, most_bytes, ours._bound)
        async with openai.AsyncOpenAI(**settings, http_client=bounded) as client:
            await asyncio.gather(*(self.ask(client, batch) for batch in batches))

    async def ask(self, client: Any, numbers: Sequence[int]) -> None:
        """Send one request, and its halves if the server refuses it."""
        async with self.turns:
            reason = _NOT_SENT if self.is_lost else await self._reason(client, numbers)
        if reason is None:
            return
        if reason:
            self.failures |= dict.fromkeys(numbers, reason)
            return
        middle = len(numbers) // 2
        for half in (numbers[:middle], numbers[middle:]):
            await self.ask(client, half)

    async def _reason(self, client: Any, numbers: Sequence[int]) -> str | None:
        """The reason why a request failed; None if it did not, empty if its halves are to be sent."""
        openai, key = import_openai(), self.client._key.value
        try:
            answer = await self.send(client, numbers)
        except openai.OpenAIError as error:
            status = getattr(error, "status_code", None) or 0
            if status in _OF_SOME and len(numbers) > 1:
                return ""
            redirects = 300 <= status < 400
            refused = redirects or status in _FOR_ALL or type(error) is openai.APIConnectionError
            self.is_lost = self.is_lost or (refused and not self.has_answers)
            reason = f"{type(error).__name__}: {error}"
            if redirects:
                reason = f"the server sends prompts on to {error.response.headers.get('location')!r}, not done"
        except BadAnswer as error:
            reason = str(error)
        except Exception as error:  # an answer of anything at all loses no other one
            reason = f"the answer is not of the protocol, or without text ({type(error).__name__})"
        else:
            self.has_answers = True
            self.keep(numbers, answer)
            return None
        return short_message(reason.replace(key, "***") if key else reason)


def named_failures(failures: Mapping[int, str], kind: str) -> str:
    """The first failure for each of the first reasons in words, with the kind of what they are of.

    >>> named_failures({2: "too long", 3: "too long"}, "text")
    'text 2: too long; …'
    """
    firsts: dict[str, int] = {}
    for number, reason in failures.items():
        firsts.setdefault(reason, number)
    ordered = sorted(firsts.items(), key=lambda entry: entry[0] == _NOT_SENT)[:_NAMED]
    named = "; ".join(f"{kind} {number}: {reason}" for reason, number in ordered)
    return named + ("; …" if len(failures) > len(ordered) else "")


def check_fields(fields: Mapping[str, object], ours: Collection[str], function: str, kind: str) -> None:
    """Check further fields of a request.

    Args:
        fields: that the user gave. ours: those that the function sets itself. kind: of options that they are.

    Raises:
        TypeError: one of ours. ValueError: a value that JSON cannot hold.
    """
    for name, value in fields.items():
        if name in ours:
            raise TypeError(f"{name} is not an option of {kind}: {function} sets it itself")
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError):
            raise wrong(name, "a value that JSON can hold", value) from None


def _bounded_client(openai: ModuleType, seconds: float, most_bytes: int, bound: str) -> Any:
    """An HTTP client that follows no redirect and reads no answer beyond a time, or of more bytes."""

    class Bounded(openai.DefaultAsyncHttpxClient):  # type: ignore[misc, name-defined]
        async def send(self, request: Any, **options: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"  # a small compressed answer can be a very long one
            try:
                async with asyncio.timeout(seconds):
                    response = await super().send(request, **options | {"stream": True, "follow_redirects": False})
                    try:
                        content = await _content(openai, response, most_bytes, bound)
                    finally:
                        await response.aclose()
            except TimeoutError:
                httpx = importlib.import_module(type(request).__module__.partition(".")[0])
                raise httpx.ReadTimeout(f"no whole answer in {seconds:g} s", request=request) from None
            plain = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _OF_TRANSPORT]
            return type(response)(response.status_code, headers=plain, content=content, request=request)

    return Bounded(timeout=seconds)


_OF_TRANSPORT = ("transfer-encoding", "content-length")


async def _content(openai: ModuleType, response: Any, most_bytes: int, bound: str) -> bytes:
    """The bytes of an answer.

    Raises:
        OpenAIError: it is compressed, or has too many.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise openai.OpenAIError("the answer is compressed, which was not asked for")
    content = bytearray()
    async for part in response.aiter_raw():
        content += part
        if len(content) > most_bytes:
            raise openai.OpenAIError(f"the answer is longer than {most_bytes} bytes: {bound} sets how long it may be")
    return bytes(content)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, also where an event loop runs already, as in a notebook; an interrupt cancels it."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def main() -> None:
        task = asyncio.ensure_future(work)
        started.set_result((asyncio.get_running_loop(), task))
        await task

    with ThreadPoolExecutor(1, thread_name_prefix="openai_client") as pool:
        done = pool.submit(contextvars.copy_context().run, asyncio.run, main())
        try:
            while not done.done():  # an interrupt just before an endless wait would not end it
                wait([done], timeout=0.2)
            done.result()
        except BaseException:
            if not done.done():
                loop, task = started.result()
                loop.call_soon_threadsafe(task.cancel)
            raise


@dataclass(frozen=True)
class _Secret:
    """A key that no message, log or traceback shows."""

    value: str = field(repr=False)


def _key(api_key: object) -> _Secret:
    """The key from the argument or the environment; empty if there is none."""
    if api_key is not None and not isinstance(api_key, str):
        raise TypeError(f"api_key must be a string or None, got {type(api_key).__name__}")
    name = "OPENAI_API_KEY" if api_key is None else "api_key"
    value = (os.environ.get(name, "") if api_key is None else api_key).strip()
    if not all("!" <= letter <= "~" for letter in value):
        raise ValueError(f"{name} must be one word of ASCII letters, digits and signs, and what was given is not")
    return _Secret(value)


def base_address(url: object, name: str = "url") -> str:
    """The address that the paths of the protocol are appended to."""
    expected = "an address such as 'http://localhost:8000/v1'"
    if not isinstance(url, str):
        raise wrong(name, expected, url)
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018  (which is read only when it is asked for)
    except ValueError:
        raise WrongOption.of(name, f"must be {expected}, got something else") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        got = "one with a password or a query in it: a key goes into api_key"
        raise WrongOption.of(name, f"must be {expected}, got {got}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise wrong(name, expected, url)
    path = (
        parts.path.rstrip("/")
        .removesuffix("/embeddings")
        .removesuffix("/completions")
        .removesuffix("/chat")
        .rstrip("/")
    )
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"
