"""Texts of a server with OpenAI's protocol: order, tries, failures, and a key that is never shown."""

from __future__ import annotations

import asyncio
import copy
import logging
import pickle
import re
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from answering import KEY, Answers, serving
from samples import HUMAN, ngrams

from mauve_metric import evaluate_model
from mauve_metric.apps.generation import openai_server


def test_texts_come_in_the_order_of_the_prompts(answers: Answers) -> None:
    write = openai_server(answers.url, model="m", concurrency=4, temperature=0.5, top_k=3, seed=7)
    prompts = [f"prompt {number}" for number in range(40)]
    assert write(prompts) == [f"…{prompt}" for prompt in prompts] and write.failures == {}
    assert 1 < answers.busiest <= 4
    assert {path for path, _, _ in answers.requests} == {"/v1/completions"}
    for _, body, key in answers.requests:
        number = prompts.index(body.pop("prompt"))
        assert body == {"model": "m", "max_tokens": 128, "temperature": 0.5, "top_k": 3, "seed": 7 + number}
        assert key == f"Bearer {KEY}"
    assert write([]) == []


def test_conversations_and_plain_prompts(answers: Answers) -> None:
    talk = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Hello"}]
    assert openai_server(answers.url + "/v1/", model="m", max_tokens=None)([talk, "Once"]) == ["…Hello", "…Once"]
    chat = openai_server(answers.url + "/v1/chat/completions", model="m", api_key="", chat=True)
    assert chat(["Once"]) == ["…Once"]
    sent = {path: body for path, body, _ in answers.requests[:2]}
    assert sent["/v1/chat/completions"] == {"model": "m", "messages": talk}
    assert sent["/v1/completions"] == {"model": "m", "prompt": "Once"}
    path, body, key = answers.requests[2]
    assert (
        path == "/v1/chat/completions"
        and body["messages"] == [{"role": "user", "content": "Once"}]
        and key == "Bearer EMPTY"
    )
    with pytest.raises(ValueError, match=r"prompt 1 is a conversation, which chat=False cannot take"):
        openai_server(answers.url, model="m", chat=False)(["a", talk])
    wrong: tuple[Any, ...] = (3, [], [{"content": "a"}], [["role", "user"]])
    for prompt in wrong:
        with pytest.raises(TypeError, match="prompt 1 must "):
            openai_server(answers.url, model="m")(["a", prompt])
    assert len(answers.requests) == 3


@pytest.mark.more
def test_what_passes_is_tried_again_and_what_stays_is_named(answers: Answers, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    write = openai_server(answers.url, model="m", retries=2)
    prompts = ["fine", "twice a", "never b", "down c", "page d", "odd e", "busy f", "hours g", "empty h", "null i"]
    found = write(prompts)
    assert found == ["…fine", "…twice a", None, None, None, None, "…busy f", None, "", ""]
    assert [answers.tried[prompt] for prompt in prompts] == [1, 3, 1, 3, 1, 1, 2, 1, 1, 1]
    first, second = answers.times["busy f"]
    assert second - first >= 0.4  # what Retry-After asked for
    assert write.failures == {
        2: "BadRequestError: Error code: 400 - no, Bearer *** may not",
        3: "InternalServerError: Error code: 500",
        4: "the answer is not of the protocol, or without text (AttributeError)",
        5: "the answer is not of the protocol, or without text (IndexError)",
        7: "RateLimitError: Error code: 429 - no, Bearer *** may not",
    }
    (warning,) = [
        record.getMessage() for record in caplog.records if record.name == "mauve_metric.apps.generation.remote"
    ]
    assert warning.startswith(
        f"5 of 10 prompts failed at {answers.url}/v1 (prompt 2: BadRequestError: Error code: 400 - no, Bearer *** may"
    )
    assert KEY not in caplog.text


def test_a_server_that_refuses_everything_is_not_asked_for_everything(answers: Answers) -> None:
    write = openai_server(answers.url, model="m", concurrency=2)
    with pytest.raises(
        OSError, match=r"no text came from .*/v1 for any of 200 prompts \(prompt \d+: AuthenticationError: "
    ) as failed:
        write([f"forbidden {number}" for number in range(200)])
    assert len(answers.requests) < 20 and KEY not in str(failed.value) and len(write.failures) == 200


def test_no_server_is_an_error_with_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.001)
    with pytest.raises(
        OSError, match=r"no text came from http://127.0.0.1:9/v1 for any of 3 prompts \(prompt \d: APIConn"
    ):
        openai_server("http://127.0.0.1:9", model="m", retries=1)(["a", "b", "c"])


def test_the_key_is_in_nothing_that_is_shown(answers: Answers) -> None:
    write = openai_server(answers.url, model="m", temperature=1.0)
    shown = [repr(write), str(write), repr(vars(write)), repr(copy.deepcopy(write)), write.__qualname__]
    assert not any(KEY in text for text in shown)
    assert repr(write) == f"openai_server('{answers.url}/v1', model='m', max_tokens=128, temperature=1.0)"
    assert pickle.loads(pickle.dumps(write))(["a"]) == ["…a"] and answers.requests[0][2] == f"Bearer {KEY}"


def test_arguments_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://localhost:8000"
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"url": 3}, r"url must be an address such as .*, got 3$"),
        ({"url": "localhost:8000"}, r"url must be an address such as .*, got 'localhost:8000'$"),
        ({"url": "http://localhost:port"}, "url must be an address"),
        ({"url": f"http://me:{KEY}@localhost"}, "a key goes into api_key"),
        ({"url": f"http://localhost/v1?key={KEY}"}, "a key goes into api_key"),
        ({"model": ""}, "model must be the name"),
        ({"api_key": f"{KEY}é"}, "api_key must be one word of ASCII"),
        ({"api_key": KEY.encode()}, "api_key must be a string or None, got bytes"),
        ({"chat": "yes"}, "chat must be True, False or None, got 'yes'"),
        ({"max_tokens": 0}, "max_tokens must be an integer of at least 1, got 0"),
        ({"concurrency": 0}, "concurrency must be"),
        ({"retries": -1}, "retries must be"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0, got 0"),
        ({"stream": True}, "stream is not an option of sampling"),
        ({"temperature": float("nan")}, "temperature must be a value that JSON can hold, got nan"),
        ({"stop": {"a"}}, "stop must be a value that JSON can hold"),
    ]
    for change, message in wrong:
        with pytest.raises((TypeError, ValueError), match=message) as failed:
            openai_server(**{"url": url, "model": "m", **change})
        assert KEY not in str(failed.value)
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY} {KEY}")
    with pytest.raises(ValueError, match="OPENAI_API_KEY must be one word") as failed:
        openai_server(url, model="m")
    assert KEY not in str(failed.value)


@pytest.mark.more
def test_a_model_behind_a_server_is_evaluated(answers: Answers) -> None:
    prompts = [f"{text.split()[0]} {number}" for number, text in enumerate(HUMAN)]
    result = evaluate_model(
        None,
        None,
        prompts,
        HUMAN,
        generate_fn=openai_server(answers.url, model="m", temperature=1.0),
        featurize_model_name=ngrams,
        num_buckets=3,
    )
    assert result.n_q == len(HUMAN)
    assert (
        "generation:mauve_metric.apps.generation.remote.openai_server(model='m', max_tokens=128, temp"
        in result.signature
    )


HOSTILE = {
    "nested": r"not of the protocol, or without text \(RecursionError\)",
    "half": r"not of the protocol, or without text \(UnicodeEncodeError\)",
    "endless": "OpenAIError: the answer is longer than [0-9]+ bytes: max_tokens sets",
    "packed": "OpenAIError: the answer is compressed, which was not asked for",
    "sent": "the server sends prompts on to 'http://127.0.0.1:[0-9]+/v1/completions', not done",
    "escapes": r"BadRequestError: Error code: 400 - .*\\x1b\[2J\\x07 gone",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_answer_costs_no_other_text(answers: Answers, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    write = openai_server(answers.url, model="m", retries=1, concurrency=1)
    with serving() as other:
        answers.elsewhere = other.url
        assert write(["fine", f"hostile {kind}", "also fine"]) == ["…fine", None, "…also fine"]
        assert not other.requests
    assert re.search(HOSTILE[kind], write.failures[1]), write.failures[1]
    assert all(record.getMessage().isprintable() for record in caplog.records)


@pytest.mark.parametrize("kind", ["bytes", "headers"])
def test_the_time_limit_is_one_of_the_whole_answer(answers: Answers, kind: str) -> None:
    write = openai_server(answers.url, model="m", timeout=0.5, retries=1)
    with pytest.raises(OSError, match=r"any of 1 prompts .*APITimeoutError: Request timed out"):
        write([f"hostile {kind}"])


def test_an_answer_as_long_as_its_tokens_is_read(answers: Answers) -> None:
    prompt = "long " + "é" * 300_000
    assert openai_server(answers.url, model="m", max_tokens=300)([prompt]) == [f"…{prompt}"]


def test_what_came_is_kept_and_only_the_rest_is_asked_for_again(answers: Answers) -> None:
    write = openai_server(answers.url, model="m", retries=0)
    assert write(["fine", "twice a", "b"]) == ["…fine", None, "…b"] and write.texts == {0: "…fine", 2: "…b"}
    assert write.resume() == ["…fine", None, "…b"]
    assert write.resume() == ["…fine", "…twice a", "…b"] and write.failures == {}
    assert write.resume() == ["…fine", "…twice a", "…b"]
    assert answers.tried == {"fine": 1, "twice a": 3, "b": 1}
    assert write(["fine"]) == ["…fine"] and answers.tried["fine"] == 2  # a new call asks for everything


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Take SIGINT, which is ignored where a shell runs the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_keeps_what_came(answers: Answers) -> None:
    write = openai_server(answers.url, model="m", concurrency=1, timeout=3600.0)
    thread = threading.Thread(target=_interrupt_once, args=(answers,))
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        write(["a", "b", "hostile bytes", "c"])
    thread.join()
    assert write.texts == {0: "…a", 1: "…b"}
    assert "c" not in answers.tried


def _interrupt_once(answers: Answers) -> None:
    """Interrupt as Ctrl-C may do, once the server has got the third prompt: the main thread is not woken."""
    while "hostile bytes" not in answers.tried:
        time.sleep(0.01)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_a_server_is_asked_where_an_event_loop_runs(answers: Answers) -> None:
    async def notebook() -> list[str | None]:
        return openai_server(answers.url, model="m")(["a"])

    assert asyncio.run(notebook()) == ["…a"]
