"""Memory of the page's server after so many clients of its endpoint: `python benchmarks/space_memory.py`.

Every client does over HTTP what gradio's own client does: it opens a heartbeat, joins the queue under a session name of
its own, reads its answer and leaves. The featurizer is a function, so that what grows is the server and no model.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SERVER = """
import numpy as np
from mauve_metric.hosts.space.limits import Limits
from mauve_metric.hosts.space.page import build_app, launch_options

def lengths(texts):
    return np.array([[len(text), text.count("a"), text.count("e")] for text in texts], dtype=float)

limits = Limits(waiting_each=50, waiting=50)
app = build_app(limits, [], {"lengths": lengths})
app.launch(quiet=True, **launch_options(limits))
"""
TEXTS = [f"text number {number} " + "ea" * (number % 7) for number in range(20)]


def call(port: int, number: int) -> None:
    """One client from its coming to its leaving."""
    beat = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    beat.request("GET", f"/gradio_api/heartbeat/client{number}")
    index = next(item["id"] for item in _json(port, "GET", "/config")["dependencies"] if item["api_name"] == "score")
    values = [TEXTS, TEXTS[:-5], None, 25, 5, 0.95, "error", "lengths", False]
    body = {"data": values, "fn_index": index, "session_hash": f"client{number}"}
    _json(port, "POST", "/gradio_api/queue/join", body)
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    stream.request("GET", f"/gradio_api/queue/data?session_hash=client{number}")
    assert b'"success":true' in stream.getresponse().read()
    beat.close()


def _json(port: int, method: str, path: str, body: object = None) -> dict[str, list[dict[str, object]]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text[:300]
    found: dict[str, list[dict[str, object]]] = json.loads(text)
    return found


def memory(process: int) -> float:
    """Megabytes that a process holds in memory."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


def main() -> None:
    """Print the memory after every hundred clients."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0] if __doc__ else None)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--step", type=int, default=100)
    options = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        own = {"GRADIO_SERVER_PORT": str(port), "GRADIO_TEMP_DIR": folder, "OMP_WAIT_POLICY": "passive"}
        process = subprocess.Popen([sys.executable, "-c", SERVER], env={**os.environ, **own})
        try:
            _wait(port, process)
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
