"""Generation by a server: vLLM, or any other with OpenAI's protocol."""

from __future__ import annotations

import email.utils
import json
import logging
import os
import random
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from mauve_metric.runtime.checks import check_count, is_bool, shown, wrong
from mauve_metric.runtime.errors import WrongOption
from mauve_metric.runtime.optional_imports import import_httpx

logger = logging.getLogger(__name__)

Conversation = Sequence[Mapping[str, object]]

FIRST_WAIT = 0.5  # seconds before the second try, doubled for each further one
LONGEST_PAUSE = 60.0  # seconds between two tries, unless the server asks for more
LONGEST_ASKED = 600.0  # longest wait in seconds that a server may request
_AGAIN = (408, 409, 425, 429, *range(500, 600))  # statuses that a retry may change
_FOR_ALL = (401, 402, 403, 404, 405, 429)  # statuses that every other prompt would get as well
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
        concurrency: requests at a time. retries: after the first try, with growing pauses, where the server is busy
            or does not answer. timeout: seconds for one answer.
        **sampling: further fields of the request, such as temperature and top_p, and those of the server's own such as
            top_k. What is not given, the server decides. With a seed, prompt i gets seed + i.

    Attributes:
        failures: of the last call: the reason for each prompt that failed, by its number.

    Returns:
        A function from prompts to texts in their order, None for a prompt that failed.

    Raises:
        TypeError, ValueError: an argument is not what it should be. ImportError: httpx is not there.

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
        import_httpx()
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
        self.failures: dict[int, str] = {}
        self._named = f"model={self.model!r}" + "".join(f", {name}={it!r}" for name, it in self.settings.items())
        self.__qualname__ = f"openai_server({self._named})"  # the signature entry

    def __repr__(self) -> str:
        return f"openai_server({self.url!r}, {self._named})"

    def __call__(self, prompts: Sequence[str | Conversation]) -> list[str | None]:
        """The text of each prompt; None for one that failed.

        Raises:
            ValueError, TypeError: a prompt is none. OSError: no text came for any prompt.
        """
        requests = [self._request(number, prompt) for number, prompt in enumerate(prompts)]
        self.failures = {}
        if not requests:
            return []
        httpx = import_httpx()
        headers = {"Authorization": f"Bearer {self._key.value}"} if self._key.value else {}
        limits = httpx.Limits(max_connections=self._concurrency)
        pool = ThreadPoolExecutor(min(self._concurrency, len(requests)), thread_name_prefix="openai_server")
        with httpx.Client(headers=headers, timeout=self._timeout, limits=limits) as client:
            call = _Call(client, threading.Event())
            waiting = [pool.submit(self._text, call, path, body) for path, body in requests]
            try:
                found = [future.result() for future in waiting]
            finally:  # do not wait for the rest if the user interrupts
                call.stop.set()
                pool.shutdown(wait=False, cancel_futures=True)
        self.failures = {number: item.reason for number, item in enumerate(found) if isinstance(item, _Failure)}
        sent_first = sorted(self.failures.items(), key=lambda item: (item[1].startswith("not sent"), item[0]))
        named = "; ".join(f"prompt {number}: {reason}" for number, reason in sent_first[:_NAMED])
        more = "; …" if len(self.failures) > _NAMED else ""
        if len(self.failures) == len(found):
            raise OSError(f"no text came from {self.url} for any of {len(found)} prompts ({named}{more})")
        if self.failures:
            count = len(self.failures)
            logger.warning("%d of %d prompts failed at %s (%s%s)", count, len(found), self.url, named, more)
        return [None if isinstance(item, _Failure) else item for item in found]

    def _request(self, number: int, prompt: object) -> tuple[str, dict[str, object]]:
        """The path and the body of the request for one prompt."""
        body: dict[str, object] = {"model": self.model, **self.settings}
        if isinstance(body.get("seed"), int):
            body["seed"] = int(str(body["seed"])) + number
        if isinstance(prompt, str) and not self._chat:
            return "/completions", {**body, "prompt": prompt}
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
        return "/chat/completions", {**body, "messages": [dict(message) for message in messages]}

    def _text(self, call: _Call, path: str, body: Mapping[str, object]) -> str | _Failure:
        """Request one text, with retries."""
        answer: str | _Failure = _Failure("not sent, since no other one came")
        for tried in range(self._retries + 1):
            if call.lost:
                break
            answer = self._try(call, path, body)
            if isinstance(answer, str):
                call.came = True
                break
            # twice the seconds before, by chance up to half less; never less than the server asked
            own = min(LONGEST_PAUSE, FIRST_WAIT * 2.0**tried) * (0.5 + random.random() / 2)
            pause = answer.wait + 0.1 * own if answer.wait else own
            if not answer.again or tried == self._retries or call.stop.wait(pause):
                call.lost = call.lost or (answer.for_all and not call.came)
                break
        return answer

    def _try(self, call: _Call, path: str, body: Mapping[str, object]) -> str | _Failure:
        """Request one text once."""
        httpx = import_httpx()
        try:
            response = call.client.post(f"{self.url}{path}", json=body)
        except httpx.TimeoutException as error:
            return _Failure(f"no answer within {self._timeout:g} seconds ({type(error).__name__})", again=True)
        except httpx.HTTPError as error:
            reason = self._clean(f"{type(error).__name__}: {error}")
            return _Failure(reason, again=True, for_all=isinstance(error, httpx.ConnectError))
        status = response.status_code
        if status != 200:
            wait = _asked_wait(response.headers) if status in _AGAIN else 0.0
            asked = f" (the server asks to wait {wait:.0f} seconds)" if wait > LONGEST_ASKED else ""
            reason = f"HTTP {status}: {self._clean(_error_text(response))}{asked}"
            return _Failure(reason, status in _AGAIN and not asked, wait, status in _FOR_ALL)
        try:
            answer = response.json()
        except ValueError:
            return _Failure(f"the answer is not JSON: {self._clean(response.text) or 'nothing'}", again=True)
        match answer:
            case {"choices": [{"message": {"content": str(text)}}, *_]} | {"choices": [{"text": str(text)}, *_]}:
                return text
            case {"choices": [{"message": {"content": None}}, *_]} | {"choices": [{"text": None}, *_]}:
                return ""  # the model says nothing
        return _Failure(f"the answer holds no text: {self._clean(json.dumps(answer))}")

    def _clean(self, message: str) -> str:
        """Return a server's message on one line, shortened, and without the key, which some repeat."""
        message = message.replace(self._key.value, "***") if self._key.value else message
        message = " ".join(message.split())
        return message if len(message) <= 200 else f"{message[:199]}…"


@dataclass
class _Call:
    """State shared by the requests of one call: the client, whether any text came, and whether none can come."""

    client: Any  # of a package that may not be there
    stop: threading.Event
    came: bool = False
    lost: bool = False


@dataclass(frozen=True)
class _Failure:
    """Reason of a failed try; whether and after how many seconds to retry; whether all prompts would fail."""

    reason: str
    again: bool = False
    wait: float = 0.0
    for_all: bool = False


@dataclass(frozen=True)
class _Secret:
    """A key that no message, log or traceback shows."""

    value: str = field(repr=False)


def _key(given: object) -> _Secret:
    """The key from the argument or the environment; empty if there is none."""
    if given is not None and not isinstance(given, str):
        raise TypeError(f"api_key must be a string or None, got {type(given).__name__}")
    name = "OPENAI_API_KEY" if given is None else "api_key"
    value = (os.environ.get(name, "") if given is None else given).strip()
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


def _error_text(response: Any) -> str:
    """Return the text of a server's error."""
    try:
        answer = response.json()
    except ValueError:
        return str(response.text) or str(response.reason_phrase)
    match answer:
        case {"error": {"message": str(text)}} | {"error": str(text)} | {"message": str(text)} | {"detail": str(text)}:
            return text
    return str(response.text)


def _asked_wait(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks to wait, as a number or as a date; 0 if it does not."""
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.replace(".", "", 1).isdigit():
        return float(asked)
    try:
        until = email.utils.parsedate_to_datetime(asked)
    except ValueError:
        return 0.0
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
