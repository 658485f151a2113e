"""Generation by a server: vLLM, or any other with OpenAI's protocol."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from mauve_metric.runtime.checks import check_count, is_bool, shown, wrong
from mauve_metric.runtime.openai_client import ANSWER_BYTES, ServerClient, check_fields, named_failures

logger = logging.getLogger(__name__)

Conversation = Sequence[Mapping[str, object]]

_TOKEN_BYTES, _MANY_TOKENS = 2**12, 2**14  # bytes of a token at most; tokens where none are named
_OURS = ("model", "messages", "prompt", "stream", "n")  # fields of a request that are not sampling


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
        self._client = ServerClient(url, model, api_key, concurrency, retries, timeout, "max_tokens")
        if chat is not None and not is_bool(chat):
            raise wrong("chat", "True, False or None", chat)
        check_fields(sampling, _OURS, "openai_server", "sampling")
        settings = {} if max_tokens is None else {"max_tokens": check_count("max_tokens", max_tokens)}
        self.url, self.model, self.settings, self._chat = self._client.url, model, settings | sampling, chat
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
        waiting = [(number,) for number in range(len(requests)) if number not in self.texts]
        if waiting:
            tokens = self.settings.get("max_tokens")
            most_bytes = ANSWER_BYTES + _TOKEN_BYTES * (tokens if isinstance(tokens, int) else _MANY_TOKENS)

            async def send(client: Any, numbers: Sequence[int]) -> str:
                return await _text_of(client, requests[numbers[0]])

            def keep(numbers: Sequence[int], text: str) -> None:
                self.texts[numbers[0]] = text

            self.failures, self.unreachable = self._client.ask(waiting, send, keep, most_bytes, bool(self.texts))
        by_number = {self._numbers[position]: reason for position, reason in sorted(self.failures.items())}
        named = named_failures(by_number, "prompt")
        if self.failures and not self.texts:
            raise OSError(f"no text came from {self.url} for any of {len(requests)} prompts ({named})")
        if self.failures:
            count = len(self.failures)
            logger.warning("%d of %d prompts failed at %s (%s)", count, len(requests), self.url, named)
        return [self.texts.get(number) for number in range(len(requests))]

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
