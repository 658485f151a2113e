"""Features from a server with the `/v1/embeddings` protocol: OpenAI's, vLLM, Text Embeddings Inference, Ollama, …"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from mauve_metric.arrays import Array
from mauve_metric.features.pretrained import preset_of
from mauve_metric.features.text_encoder import Keep, TextEncoder
from mauve_metric.runtime.checks import check_count
from mauve_metric.runtime.errors import NoModel, WrongOption
from mauve_metric.runtime.openai_client import ANSWER_BYTES, BadAnswer, ServerClient, check_fields, named_failures

PREFIX = "server:"  # before the name of a model, in the place of a featurizer's name
VARIABLE = "MAUVE_METRIC_SERVER"  # the address where none is given
_TEXT_BYTES = 2**19  # of the numbers of one text at most
_OURS = ("model", "input", "encoding_format")  # fields of a request that are set here


class embedding_server(TextEncoder):  # called as a function
    """A featurizer by a server with the `/v1/embeddings` protocol, several texts at a time.

    Args:
        url: of the server, such as "http://localhost:8000/v1".
        model: the name that it serves.
        api_key: None: that of the environment variable OPENAI_API_KEY, if there is one. It is shown nowhere.
        batch_size: texts of a request. A request that the server refuses is sent again in halves.
        concurrency: requests at a time. retries: after the first try, with growing pauses or those that the server asks
            for, where it is busy or does not answer. timeout: seconds for one whole answer, from the connection to its
            last byte.
        **fields: further fields of the request, such as dimensions, and those of the server's own such as
            truncate_prompt_tokens. They are in the signature.

    The rows of each answer are kept in the cache of features at once, by address, model, fields and text: after a
    failure the same call asks for the rest. A model with a preset, such as e5, gets its text prefix unless
    `text_prefix` is given. No request follows a redirect, and an answer of more bytes than its numbers can have, or a
    compressed one, is not read. A text counts as cut where the answer, or its entry, has `"truncated": true`. Most
    servers refuse a text that is too long, which is an error here; some cut it silently.

    Raises:
        TypeError, ValueError: an argument is not what it should be. ImportError: openai is not there. OSError: a text
            has no row, when it is called.

    >>> embedding_server("http://localhost:8080", "bge-m3", dimensions=256)
    embedding_server('http://localhost:8080/v1', 'bge-m3', dimensions=256)
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        api_key: str | None = None,
        batch_size: int = 32,
        concurrency: int = 8,
        retries: int = 5,
        timeout: float = 300.0,
        **fields: object,
    ) -> None:
        self._client = ServerClient(url, model, api_key, concurrency, retries, timeout, "dimensions")
        check_fields(fields, _OURS, "embedding_server", "the request")
        self.url, self.model, self._fields = self._client.url, model, fields
        self._batch_size = check_count("batch_size", batch_size)
        self.text_prefix = preset_of(model)[1].text_prefix
        address = hashlib.sha256(self.url.encode()).hexdigest()[:12]  # signatures are published, addresses are not
        self.identity = {"model": f"{PREFIX}{model}", "server": address}
        if fields:
            self.identity["request"] = json.dumps(fields, sort_keys=True)

    def __repr__(self) -> str:
        return (
            f"embedding_server({self.url!r}, {self.model!r}"
            + "".join(f", {name}={value!r}" for name, value in self._fields.items())
            + ")"
        )

    def compute(self, texts: Sequence[str], keep: Keep) -> None:
        """Ask for the rows of texts, those of like length together.

        Raises:
            OSError: a text has none. The rows of the others are kept.
        """
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        batches = [order[start : start + self._batch_size] for start in range(0, len(order), self._batch_size)]
        widths: set[int] = set()

        async def send(client: Any, numbers: Sequence[int]) -> tuple[Array, list[bool]]:
            request = {"model": self.model, "encoding_format": "float", "extra_body": dict(self._fields)}
            ask = client.embeddings.with_raw_response.create
            answer = await ask(input=[texts[number] for number in numbers], **request)
            rows, were_cut = _rows(json.loads(answer.content), len(numbers))
            if {rows.shape[1]} != (widths or {rows.shape[1]}):
                raise BadAnswer(f"the rows have {rows.shape[1]} numbers, and those of another answer {min(widths)}")
            widths.add(rows.shape[1])
            return rows, were_cut

        most_bytes = ANSWER_BYTES + _TEXT_BYTES * self._batch_size
        failures, _ = self._client.ask(batches, send, lambda numbers, answer: keep(numbers, *answer), most_bytes)
        if failures:
            kept = "; what came is in the cache, and the same call asks for the rest" if widths else ""
            named = named_failures(failures, "text")
            raise NoModel(f"{len(failures)} of {len(texts)} texts have no features from {self.url} ({named}){kept}")


def server_of(name: str, url: str | None) -> embedding_server:
    """The featurizer that "server:MODEL" names.

    Args:
        url: its address; None: that in `MAUVE_METRIC_SERVER`.

    Raises:
        WrongOption: there is no address, or no name of a model.
    """
    address = os.environ.get(VARIABLE) if url is None else url
    if not address:
        raise WrongOption.of("server", f"must be the address of the server for featurize_model_name={name!r}, got none")
    return embedding_server(address, name.removeprefix(PREFIX))


def _rows(answer: Any, count: int) -> tuple[Array, list[bool]]:
    """The rows of an answer, (b, d), and which texts it says were cut.

    Raises:
        BadAnswer: there is not one row of finite numbers for each text. Exception: it is of another protocol.
    """
    entries = sorted(answer["data"], key=lambda entry: entry["index"])
    numbers = [entry["index"] for entry in entries]
    if numbers != list(range(count)):
        raise BadAnswer(f"the answer must have a row for each of {count} texts, got those of {numbers[:3]}…")
    rows = [np.array(entry["embedding"]) for entry in entries]
    if any(row.ndim != 1 or row.dtype.kind not in "fiu" or not len(row) for row in rows):
        raise BadAnswer("the rows of the answer must be lists of numbers")
    if len({len(row) for row in rows}) > 1:
        raise BadAnswer("the rows of the answer are of different lengths")
    values = np.stack(rows).astype(np.float32)
    if not np.isfinite(values).all():
        raise BadAnswer("the rows of the answer must be finite numbers")
    return values, [entry.get("truncated") is True or answer.get("truncated") is True for entry in entries]
