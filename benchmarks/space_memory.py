"""Memory of the page's server, and seconds until a visitor has the verdict: `python benchmarks/space_memory.py`.

Every client does over HTTP what gradio's own client does: it opens a heartbeat, joins the queue under a session name of
its own, reads its answer and leaves. By default four at a time have a few texts and a featurizer that is a function, so
that what grows is the server and no model. `--visitors 50` come at the same time, each with texts of its own, by the
featurizer that the page presets: seconds until the first, the middle and the last answer, and the peak of the memory.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mauve_metric import read_texts

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SERVER = """
import numpy as np
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.page import build_app, launch_options

def lengths(texts):
    return np.array([[len(text), text.count("a"), text.count("e")] for text in texts], dtype=float)

limits = Limits(waiting_each=1000, waiting=1000)
app = build_app(limits, ["minilm"], {"lengths": lengths})
app.launch(quiet=True, **launch_options(limits))
"""
TEXTS = [f"text number {number} " + "ea" * (number % 7) for number in range(20)]


def call(port: int, number: int, human: list[str] = TEXTS, model: list[str] = TEXTS[:-5], by: str = "lengths") -> float:
    """One client from its coming to its leaving; seconds until it has its answer."""
    start = time.perf_counter()
    beat = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    beat.request("GET", f"/gradio_api/heartbeat/client{number}")
    index = next(item["id"] for item in _json(port, "GET", "/config")["dependencies"] if item["api_name"] == "score")
    values = [human, model, None, 25, 5, 0.95, "error", "human", by, False]
    body = {"data": values, "fn_index": index, "session_hash": f"client{number}"}
    _json(port, "POST", "/gradio_api/queue/join", body)
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    stream.request("GET", f"/gradio_api/queue/data?session_hash=client{number}")
    assert b'"success":true' in stream.getresponse().read()
    beat.close()
    return time.perf_counter() - start


def _json(port: int, method: str, path: str, body: object = None) -> dict[str, list[dict[str, object]]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text[:300]
    found: dict[str, list[dict[str, object]]] = json.loads(text)
    return found


def memory(process: int, field: str = "VmRSS") -> float:
    """Megabytes that a process holds in memory, or held at most (`VmHWM`)."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.findall(rf"{field}:\s+(\d+)", status)[0]) / 1024


def at_once(port: int, process: int, visitors: int, count: int) -> None:
    """Print when visitors who come at the same time, each with `count` texts a side, have their answers."""
    sides = [read_texts(EXAMPLES / f"{name}.jsonl")[:count] for name in ("human", "nucleus")]
    call(port, visitors, by="minilm")  # the model is loaded
    print(f"{'visitors':>8} {'texts':>11} {'first s':>8} {'median s':>8} {'last s':>8} {'peak MB':>8}")
    for number in sorted({1, visitors}):
        # a number at the end of each text, so that no visitor has the texts of another
        texts = [[[f"{text} {number}-{who}" for text in side] for side in sides] for who in range(number)]
        with concurrent.futures.ThreadPoolExecutor(number) as pool:
            calls = [pool.submit(call, port, who, *texts[who], by="minilm") for who in range(number)]
            seconds = sorted(done.result() for done in calls)
        row = (seconds[0], statistics.median(seconds), seconds[-1], memory(process, "VmHWM"))
        print(f"{number:>8} {f'{count} + {count}':>11}", *(f"{value:>8.1f}" for value in row), flush=True)


def main() -> None:
    """Print the memory after every hundred clients, or how long visitors wait who come at the same time."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--step", type=int, default=100)
    parser.add_argument("--visitors", type=int, help="at the same time, in place of clients one after the other")
    parser.add_argument("--texts", type=int, default=300, help="on each side of each of these visitors")
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        own = {"GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": folder, "OMP_WAIT_POLICY": "passive"}
        own["MAUVE_METRIC_CACHE"] = folder
        process = subprocess.Popen([sys.executable, "-c", SERVER], env={**os.environ, **own})
        try:
            _wait(port, process)
            if options.visitors:
                at_once(port, process.pid, options.visitors, options.texts)
                return
            print(f"{'clients':>8} {'MB':>8}")
            for done in range(0, options.clients + 1, options.step):
                with concurrent.futures.ThreadPoolExecutor(4) as pool:
                    list(pool.map(lambda number: call(port, number), range(done - options.step if done else 0, done)))
                time.sleep(1)  # for what is done once a client has left
                print(f"{done:>8} {memory(process.pid):>8.1f}", flush=True)
        finally:
            process.terminate()
            process.wait()


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            _json(port, "GET", "/config")
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    main()
