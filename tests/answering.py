"""A server with OpenAI's protocol, in a thread, for the tests of texts and of features from a server."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-secret-0123456789"


class Answers(ThreadingHTTPServer):
    """A server that answers "…PROMPT" after a random moment, but for prompts whose first word says otherwise.

    It answers texts by `embedding`, unless the first word of one of them says otherwise; most_texts: of one request.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.tried: dict[str, int] = {}
        self.times: dict[str, list[float]] = {}
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.ended, self.elsewhere = threading.Event(), ""
        self.most_texts = 100

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Answers

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server, texts = self.server, body.get("input")
        if texts is not None:
            prompt = next((text for text in texts if text.split()[:1] and text.split()[0] in DIRECTIVES), texts[0])
        else:
            prompt = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        with server.lock:
            server.requests.append((self.path, body, self.headers.get("Authorization")))
            server.tried[prompt] = server.tried.get(prompt, 0) + 1
            server.times.setdefault(prompt, []).append(time.monotonic())
            server.busy += 1
            server.busiest = max(server.busiest, server.busy)
        if prompt.split()[:1] == ["hostile"]:
            with contextlib.suppress(OSError):  # the client hangs up
                self._attack(prompt.split()[1])
            return
        time.sleep(random.Random(prompt).uniform(0, 0.03))
        status, headers, answer = self._answer(prompt, server.tried[prompt])
        if texts is not None and status == 200 and not isinstance(answer, bytes):
            status, answer = self._features(texts, prompt)
        with server.lock:
            server.busy -= 1
        content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _attack(self, kind: str) -> None:
        """Answer as no server should, for as long as the client listens."""
        headers: dict[str, str] = {}
        body, status = b'{"choices": [{"text": "a"}]}', 200
        if kind == "nested":
            body = b"[" * 200_000
        elif kind == "half":
            body = b'{"choices": [{"text": "\\ud800"}]}'
        elif kind == "sent":
            status, headers = 307, {"Location": self.server.elsewhere + self.path}
        elif kind == "escapes":
            status, body = 400, b'{"error": {"message": "\\u001b[2J\\u0007 gone"}}'
        elif kind == "packed":
            body, headers = gzip.compress(b'{"choices": [' + b" " * 10**8), {"Content-Encoding": "gzip"}
        if kind == "headers":
            while not self.server.ended.wait(0.02):
                self.wfile.write(b"H")
                self.wfile.flush()
        self.send_response(status)
        for name, value in (
            {} if kind in ("bytes", "endless") else {"Content-Length": str(len(body))} | headers
        ).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        while kind == "bytes" and not self.server.ended.wait(0.02):
            self.wfile.write(b" ")
        while kind == "endless":
            self.wfile.write(b" " * 2**16)
        self.wfile.write(body)

    def _features(self, texts: list[str], directive: str) -> tuple[int, object]:
        """Features in the protocol, or what the first word of the directive says."""
        word = directive.split()[0] if directive.split() else ""
        if len(texts) > self.server.most_texts:
            return 422, {"error": {"message": f"batch size {len(texts)} is more than {self.server.most_texts}"}}
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": number, "embedding": embedding(text)} for number, text in enumerate(texts)
        ]
        if word == "nan":
            data[0]["embedding"][0] = float("nan")
        elif word == "missing":
            data.pop()
        elif word == "uneven":
            data[0]["embedding"].append(1.0)
        elif word == "wide":
            data = [{**entry, "embedding": [*entry["embedding"], 1.0]} for entry in data]
        elif word == "words":
            data[0]["embedding"] = ["1", "2"]
        elif word == "swapped":
            data.reverse()
        elif word == "cut":
            data[texts.index(directive)]["truncated"] = True
        return 200, {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def _answer(self, prompt: str, tried: int) -> tuple[int, dict[str, str], object]:
        word = prompt.split()[0] if prompt.split() else ""
        said = {"error": {"message": f"no, {self.headers.get('Authorization')} may not"}}
        if word == "twice" and tried < 3:
            return 503, {}, said
        if word == "busy" and tried == 1:
            return 429, {"Retry-After": "0.4"}, said
        if word == "hours":
            return 429, {"Retry-After": "7200"}, said
        if word == "never":
            return 400, {}, said
        if word == "down":
            return 500, {}, b"<html>down</html>"
        if word == "forbidden":
            return 401, {}, said
        if word == "page":
            return 200, {}, b"<html>hello</html>"
        if word == "odd":
            return 200, {}, {"choices": []}
        if word == "toolong":
            return 400, {}, {"error": {"message": "this text has more tokens than the model takes"}}
        text: str | None = f"…{prompt}"
        if word in ("empty", "null"):
            text = "" if word == "empty" else None
        choice: dict[str, Any] = {"text": text} if "completions" in self.path and "chat" not in self.path else {}
        return 200, {}, {"choices": [choice or {"message": {"role": "assistant", "content": text}}]}


DIRECTIVES = (
    "hostile twice busy hours never down forbidden page toolong nan missing uneven wide words swapped cut".split()
)


def embedding(text: str) -> list[float]:
    """Numbers that follow from a text."""
    return [float(len(text)), float(text.count("e")), 1.0]


@contextlib.contextmanager
def serving() -> Iterator[Answers]:
    """A server that answers until the context ends."""
    server = Answers()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
