"""A server with OpenAI's protocol, in a thread, for the tests of texts that a server writes."""

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
    """A server that answers "…PROMPT" after a random moment, but for prompts whose first word says otherwise."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict[str, Any], str | None]] = []
        self.tried: dict[str, int] = {}
        self.times: dict[str, list[float]] = {}
        self.busy = self.busiest = 0
        self.lock = threading.Lock()
        self.ended, self.elsewhere = threading.Event(), ""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Answers

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
        server = self.server
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
            status, headers = 307, {"Location": self.server.elsewhere + "/v1/completions"}
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
        text: str | None = f"…{prompt}"
        if word in ("empty", "null"):
            text = "" if word == "empty" else None
        choice: dict[str, Any] = {"text": text} if "completions" in self.path and "chat" not in self.path else {}
        return 200, {}, {"choices": [choice or {"message": {"role": "assistant", "content": text}}]}


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
