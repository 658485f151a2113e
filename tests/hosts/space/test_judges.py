"""A hundred judges at once, and visitors of the page beside them: no judgement is lost."""

from __future__ import annotations

import http.client
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from samples import ngrams
from visitors import SERVED, free_port

gradio = pytest.importorskip("gradio")
pytestmark = pytest.mark.slow


class Pages:
    """A server, and calls of its buttons as a browser makes them."""

    def __init__(self, **limits: int) -> None:
        import app
        from mauve_metric.hosts.space.limits import Limits

        chosen = replace(Limits(), **limits)
        self.demo, self.port = app.build_app(chosen, [], {"ngrams": ngrams}), free_port()
        self.demo.launch(**(app.launch_options(chosen) | SERVED | {"server_port": self.port}))
        self.state = next(part for part in self.demo.blocks.values() if isinstance(part, gradio.BrowserState))

    def press(self, button: str, who: str, *values: Any) -> Any:
        """What the button leaves in the visitor's browser."""
        part = next(number for number, part in self.demo.blocks.items() if part.elem_id == button)
        number, event = next(
            (number, event)
            for number, event in self.demo.fns.items()
            if event.fn is not None and (part, "click") in [tuple(target[:2]) for target in event.targets]
        )
        body = json.dumps({"data": values, "fn_index": number, "session_hash": who})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        kind = {"Content-Type": "application/json"}
        if event.queue is False:
            connection.request("POST", "/gradio_api/run/predict", body, kind)
            return json.load(connection.getresponse())["data"][event.outputs.index(self.state)]
        connection.request("POST", "/gradio_api/queue/join", body, kind)
        assert connection.getresponse().read().startswith(b'{"event_id"')
        connection.request("GET", f"/gradio_api/queue/data?session_hash={who}")
        for line in connection.getresponse():
            message = json.loads(line[5:]) if line.startswith(b"data:") else {}
            if message.get("msg") == "process_completed":
                left = message["output"].get("data", [])
                return left[event.outputs.index(self.state)] if self.state in event.outputs else left
        raise AssertionError("no answer")


def test_a_hundred_judges_and_visitors_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    pages = Pages(waiting=500)

    def judge(number: int) -> dict[str, Any]:
        kept = pages.press("judge_start", f"judge{number}", f"j{number}", None, None, {})
        for _ in range(2):
            pages.press("stop", f"visitor{number}")
            kept = pages.press("machine", f"judge{number}", kept, "")
        return dict(kept)

    with ThreadPoolExecutor(100) as threads:
        found = list(threads.map(judge, range(100)))
    assert [(kept["rater"], len(kept["boundaries"])) for kept in found] == [(f"j{number}", 2) for number in range(100)]
    pages.demo.close()
