"""A score on a cluster of its own; then some during which the driver, a worker, all workers or a machine is lost.

    python ray_events.py HUMAN MODEL OUT

Writes to OUT.json the result of `ray="local"`; for each event the result, the number of shards that were done when it
happened, and how many of these were done again; and the error of a bad shard.
To be run in network and process namespaces of its own: Ray listens on all interfaces, and processes are killed by name.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import ray
from draws import draw_few
from ray.cluster_utils import Cluster
from samples import slow_ngrams

from mauve_metric import score_sharded

HAPPENS_AFTER = 4  # shards
OPTIONS = {"featurize_model_name": slow_ngrams, "num_buckets": 12, "num_runs": 2, "seed": 3}


def done_files(out: Path) -> dict[Path, int]:
    """The files of features, and when they were written."""
    return {file: file.stat().st_mtime_ns for file in out.glob("features/*.npy")}


def wait_for_files(out: Path) -> dict[Path, int]:
    """The files of features once there are enough."""
    while len(files := done_files(out)) < HAPPENS_AFTER:
        time.sleep(0.01)
    return files


def workers() -> list[int]:
    """The worker processes of Ray that are at work."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            name = (process / "cmdline").read_bytes().split(b"\0")[0]
        except OSError:  # it has ended
            continue
        if name.startswith(b"ray::_run"):  # the function of the task
            found.append(int(process.name))
    return found


def kill_workers(most: int | None) -> None:
    """Kill so many workers at once."""
    while not (found := workers()):
        time.sleep(0.01)
    for process in found[:most]:
        os.kill(process, signal.SIGKILL)


def score_during(event: Callable[[], object], human: Path, model: Path, out: Path) -> tuple[object, int, int]:
    """Score while something happens."""
    before: dict[Path, int] = {}

    def happen() -> None:
        before.update(wait_for_files(out))
        event()

    thread = threading.Thread(target=happen)
    thread.start()
    result = score_sharded(human, model, out, ray="auto", checkpoint=out, **OPTIONS)
    thread.join()
    again = sum(written != before[file] for file, written in done_files(out).items() if file in before)
    return result.to_dict(), len(before), again


def main(human: Path, model: Path, out: Path) -> None:
    """Score on a cluster of this machine, and then on one of two machines of one CPU each."""
    draw_few(pytest.MonkeyPatch())  # as the tests do; the features alone are made by Ray's workers
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    found: dict[str, object] = {
        "local": score_sharded(human, model, out / "local", ray="local", workers=2, **OPTIONS).to_dict()
    }
    one_cpu = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**one_cpu, "include_dashboard": False})
    node = cluster.add_node(**one_cpu)
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.address, human, model, out / "driver"])
    wait_for_files(out / "driver")
    driver.kill()
    driver.wait()
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    events: dict[str, Callable[[], object]] = {
        "driver": lambda: None,
        "worker": lambda: kill_workers(1),
        "workers": lambda: kill_workers(None),
        "node": lambda: cluster.remove_node(node, allow_graceful=False),
    }
    found |= {name: score_during(event, human, model, out / name) for name, event in events.items()}
    (model / "part-001.jsonl").write_text("no json")
    try:
        score_sharded(human, model, out / "local", ray="auto", **OPTIONS)
    except ValueError as error:
        found["bad shard"] = str(error)
    ray.shutdown()
    cluster.shutdown()
    out.with_suffix(".json").write_text(json.dumps(found))  # Ray writes to stdout


DRIVER = """
import sys
import ray_events
ray_events.score_sharded(*sys.argv[2:], ray=sys.argv[1], checkpoint=sys.argv[-1], **ray_events.OPTIONS)
"""


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
