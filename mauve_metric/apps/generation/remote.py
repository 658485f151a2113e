"""Generation by a server: vLLM, or any other with OpenAI's protocol."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from mauve_metric.runtime.checks import check_count, is_bool, shown, wrong
from mauve_metric.runtime.errors import WrongOption, one_line
from mauve_metric.runtime.optional_imports import import_openai

logger = logging.getLogger(__name__)

Conversation = Sequence[Mapping[str, object]]

_FOR_ALL = (401, 402, 403, 404, 405, 429)  # statuses that every other prompt would get as well
_ANSWER_BYTES, _TOKEN_BYTES, _MANY_TOKENS = 2**20, 2**12, 2**14  # of an answer at most; tokens where none are named
_OURS = ("model", "messages", "prompt", "stream", "n")  # fields of a request that are not sampling
_NAMED = 3  # failed prompts that a message names


class openai_server:  # called as a function
    """A `generate_fn` that asks a vLLM or any other server with OpenAI's protocol, several prompts at a time.

    Args:
        url: of the server, such as "http://localhost:8000/v1".
        model: the name that it serves.
        api_key: None: that of the environment variable OPENAI_API_KEY, if there is one. It is shown nowhere.
        chat: whether plain prompts are sent to the chat as a user's message, or continued; None: they are continued,
            conversations (lists of {"role": …, "content": …}) go to the chat.
        max_tokens: the most tokens of a text; None: what the server does by itself (16 for many that continue).
        concurrency: requests at a time. retries: after the first try, with growing pauses or those that the server asks
            for, where it is busy or does not answer. timeout: seconds for one whole answer, from the connection to its
            last byte.
        **sampling: further fields of the request, such as temperature and top_p, and those of the server's own such as
            top_k. What is not given, the server decides. With a seed, prompt i gets seed + i.

    Attributes:
        failures: of the last call: the reason for each prompt that failed, by its place among them.
        unreachable: whether the last call ended because no prompt could be answered.
        texts: of the last call: each text that came, by the place of its prompt, also after an interrupt.

    Returns:
        A function from prompts to texts in their order, None for a prompt that failed. Its method `resume` asks again
        for those that have no text. No request follows a redirect, and an answer of more bytes than its tokens can
        have, or a compressed one, is not read.

    Raises:
        TypeError, ValueError: an argument is not what it should be. ImportError: openai is not there.

    >>> openai_server("http://localhost:8000", model="gpt2", temperature=1.0)
    openai_server('http://localhost:8000/v1', model='gpt2', max_tokens=128, temperature=1.0)
    """

    def __init__(
        self,
        url: str,
        *,
        model: str,
        api_key: str | None = None,
        chat: bool | None = None,
        max_tokens: int | None = 128,
        concurrency: int = 16,
        retries: int = 5,
        timeout: float = 300.0,
        **sampling: object,
    ) -> None:
        import_openai()
        if not isinstance(model, str) or not model.strip():
            raise wrong("model", "the name that the server has for it", model)
        if chat is not None and not is_bool(chat):
            raise wrong("chat", "True, False or None", chat)
        if is_bool(timeout) or not isinstance(timeout, (int, float)) or not 0 < timeout < float("inf"):
            raise wrong("timeout", "a number of seconds above 0", timeout)
        for name, value in sampling.items():
            if name in _OURS:
                raise TypeError(f"{name} is not an option of sampling: openai_server sets it itself")
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError):
                raise wrong(name, "a value that JSON can hold", value) from None
        settings = {} if max_tokens is None else {"max_tokens": check_count("max_tokens", max_tokens)}
        self.url, self.model, self.settings = _base(url), model, settings | sampling
        self._key, self._chat, self._timeout = _key(api_key), chat, float(timeout)
        self._concurrency = check_count("concurrency", concurrency)
        self._retries = check_count("retries", retries, low=0)
        self._prompts: list[str | Conversation] = []
        self._numbers: list[int] = []
        self.texts: dict[int, str] = {}
        self.failures: dict[int, str] = {}
        self.unreachable = False
        self._named = f"model={self.model!r}" + "".join(f", {name}={it!r}" for name, it in self.settings.items())
        self.__qualname__ = f"openai_server({self._named})"  # the signature entry

    def __repr__(self) -> str:
        return f"openai_server({self.url!r}, {self._named})"

    def __call__(self, prompts: Sequence[str | Conversation], numbers: Sequence[int] | None = None) -> list[str | None]:
        """The text of each prompt; None for one that failed.

        Args:
            prompts: texts or conversations. numbers: of the prompts, for their seeds; None: from 0.

        Raises:
            ValueError, TypeError: a prompt is none. OSError: no text came for any prompt.
        """
        self._prompts, self.texts = list(prompts), {}
        self._numbers = list(range(len(self._prompts)) if numbers is None else numbers)
        return self.resume()

    def resume(self) -> list[str | None]:
        """The texts of the last call, after those prompts that have no text were sent again.

        Raises:
            OSError: no text came for any prompt.
        """
        requests, self.failures = [self._request(*numbered) for numbered in enumerate(self._prompts)], {}
        for request, number in zip(requests, self._numbers, strict=True):
            if isinstance(request["extra_body"].get("seed"), int):
                request["extra_body"]["seed"] += number
        if len(self.texts) < len(requests):
            _run(self._ask_all(requests))
        self.failures = dict(sorted(self.failures.items()))
        failed = [(self._numbers[position], reason) for position, reason in self.failures.items()]
        named = "; ".join(f"prompt {number}: {reason}" for number, reason in failed[:_NAMED])
        more = "; …" if len(self.failures) > _NAMED else ""
        if self.failures and not self.texts:
            raise OSError(f"no text came from {self.url} for any of {len(requests)} prompts ({named}{more})")
        if self.failures:
            count = len(self.failures)
            logger.warning("%d of %d prompts failed at %s (%s%s)", count, len(requests), self.url, named, more)
        return [self.texts.get(number) for number in range(len(requests))]

    async def _ask_all(self, requests: Sequence[dict[str, Any]]) -> None:
        """Send the requests that have no text yet, a few at a time; keep each text, or the reason why there is none."""
        openai, turns = import_openai(), asyncio.Semaphore(self._concurrency)
        is_lost = False  # no text can come

        async def ask(client: Any, number: int) -> None:
            nonlocal is_lost
            async with turns:
                if is_lost:
                    self.failures[number] = "not sent, since no other one came"
                    return
                try:
                    self.texts[number] = await _text_of(client, requests[number])
                    return
                except openai.OpenAIError as error:
                    status = getattr(error, "status_code", None) or 0
                    redirects = 300 <= status < 400
                    refused = redirects or status in _FOR_ALL or type(error) is openai.APIConnectionError
                    is_lost = is_lost or (refused and not self.texts)
                    reason = f"{type(error).__name__}: {error}"
                    if redirects:
                        reason = f"the server sends prompts on to {error.response.headers.get('location')!r}, not done"
                except Exception as error:  # an answer of anything at all loses no other one
                    reason = f"the answer is not of the protocol, or without text ({type(error).__name__})"
            self.failures[number] = one_line(reason.replace(self._key.value, "***") if self._key.value else reason)

        settings: dict[str, Any] = {"base_url": self.url, "max_retries": self._retries, "timeout": self._timeout}
        settings["api_key"] = self._key.value or "EMPTY"  # the client asks for one, a server without keys ignores it
        tokens = self.settings.get("max_tokens")
        most_bytes = _ANSWER_BYTES + _TOKEN_BYTES * (tokens if isinstance(tokens, int) else _MANY_TOKENS)
        bounded = _bounded_client(openai, self._timeout, most_bytes)
        async with openai.AsyncOpenAI(**settings, http_client=bounded) as client:
            waiting = [number for number in range(len(requests)) if number not in self.texts]
            await asyncio.gather(*(ask(client, number) for number in waiting))
        self.unreachable = is_lost

    def _request(self, number: int, prompt: object) -> dict[str, Any]:
        """The arguments of the request for one prompt."""
        request: dict[str, Any] = {"model": self.model, "extra_body": dict(self.settings)}
        if isinstance(prompt, str) and not self._chat:
            return {**request, "prompt": prompt}
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        if self._chat is False:
            raise ValueError(f"prompt {number} is a conversation, which chat=False cannot take")
        if not isinstance(messages, Sequence) or not messages:
            raise TypeError(
                f"prompt {number} must be a text or a conversation (a list of messages), got {shown(prompt)}"
            )
        for message in messages:
            if not isinstance(message, Mapping) or not isinstance(message.get("role"), str) or "content" not in message:
                raise TypeError(
                    f"prompt {number} must hold messages such as {{'role': 'user', 'content': 'Hello'}}, got "
                    f"{shown(message)}"
                )
        return {**request, "messages": [dict(message) for message in messages]}


async def _text_of(client: Any, request: dict[str, Any]) -> str:
    """The text of an answer.

    Raises:
        OpenAIError: none came. Exception: it is not of the protocol.
    """
    if "messages" in request:
        text = (await client.chat.completions.create(**request)).choices[0].message.content
    else:
        text = (await client.completions.create(**request)).choices[0].text
    if not isinstance(text, (str, type(None))):
        raise TypeError("the text is none")
    (text or "").encode()  # half of a surrogate pair is no character
    return text or ""


def _bounded_client(openai: ModuleType, seconds: float, most_bytes: int) -> Any:
    """An HTTP client that follows no redirect and reads no answer beyond a time, or of more bytes."""

    class Bounded(openai.DefaultAsyncHttpxClient):  # type: ignore[misc, name-defined]
        async def send(self, request: Any, **options: Any) -> Any:
            request.headers["Accept-Encoding"] = "identity"  # a small compressed answer can be a very long one
            try:
                async with asyncio.timeout(seconds):
                    response = await super().send(request, **options | {"stream": True, "follow_redirects": False})
                    try:
                        content = await _content(openai, response, most_bytes)
                    finally:
                        await response.aclose()
            except TimeoutError:
                httpx = importlib.import_module(type(request).__module__.partition(".")[0])
                raise httpx.ReadTimeout(f"no whole answer in {seconds:g} s", request=request) from None
            plain = [pair for pair in response.headers.multi_items() if pair[0].lower() not in _OF_TRANSPORT]
            return type(response)(response.status_code, headers=plain, content=content, request=request)

    return Bounded(timeout=seconds)


_OF_TRANSPORT = ("transfer-encoding", "content-length")


async def _content(openai: ModuleType, response: Any, most_bytes: int) -> bytes:
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
            raise openai.OpenAIError(
                f"the answer is longer than {most_bytes} bytes: max_tokens sets how long it may be"
            )
    return bytes(content)


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, also where an event loop runs already, as in a notebook; an interrupt cancels it."""
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = Future()

    async def main() -> None:
        task = asyncio.ensure_future(work)
        started.set_result((asyncio.get_running_loop(), task))
        await task

    with ThreadPoolExecutor(1, thread_name_prefix="openai_server") as pool:
        done = pool.submit(asyncio.run, main())
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


def _base(url: object) -> str:
    """The address that the paths of the protocol are appended to."""
    expected = "an address such as 'http://localhost:8000/v1'"
    if not isinstance(url, str):
        raise wrong("url", expected, url)
    try:
        parts = urlsplit(url.strip())
        parts.port  # noqa: B018  (which is read only when it is asked for)
    except ValueError:
        raise WrongOption.of("url", f"must be {expected}, got something else") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        got = "one with a password or a query in it: a key goes into api_key"
        raise WrongOption.of("url", f"must be {expected}, got {got}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise wrong("url", expected, url)
    path = parts.path.rstrip("/").removesuffix("/completions").removesuffix("/chat").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path or '/v1'}"
