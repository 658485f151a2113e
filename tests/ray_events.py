"""A score on Ray during which a worker, all workers, the driver or a machine is lost.

    python ray_events.py EVENT HUMAN MODEL OUT

Writes to OUT.json the result, the number of shards that were done when it happened, and how many of these were done
again.
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

import ray
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


def keep(out: Path, *values: object) -> None:
    """Write values for the test; Ray writes to stdout."""
    out.with_suffix(".json").write_text(json.dumps(values))


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


def score_during(event: Callable[[], object], *places: Path) -> None:
    """Score while something happens."""
    out, before = places[-1], {}

    def happen() -> None:
        before.update(wait_for_files(out))
        event()

    thread = threading.Thread(target=happen)
    thread.start()
    result = score_sharded(*places, ray="auto", checkpoint=out, **OPTIONS)
    thread.join()
    again = sum(written != before[file] for file, written in done_files(out).items() if file in before)
    keep(out, result.to_dict(), len(before), again)


def main(event: str, *names: str) -> None:
    """Start a cluster of two machines of one CPU each, and score on it."""
    places = [Path(name) for name in names]
    if event == "local":
        with_bad_shard(*places)
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    one_cpu = {"num_cpus": 1, "object_store_memory": 80_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={**one_cpu, "include_dashboard": False})
    node = cluster.add_node(**one_cpu)
    if event == "driver":
        driver = subprocess.Popen([sys.executable, "-c", DRIVER, cluster.address, *names])
        wait_for_files(places[-1])
        driver.kill()
        driver.wait()
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    events: dict[str, Callable[[], object]] = {
        "worker": lambda: kill_workers(1),
        "workers": lambda: kill_workers(None),
        "driver": lambda: None,
        "node": lambda: cluster.remove_node(node, allow_graceful=False),
    }
    score_during(events[event], *places)
    ray.shutdown()
    cluster.shutdown()


DRIVER = """
import sys
import ray_events
ray_events.score_sharded(*sys.argv[2:], ray=sys.argv[1], checkpoint=sys.argv[-1], **ray_events.OPTIONS)
"""


def with_bad_shard(human: Path, model: Path, out: Path) -> None:
    """Score on a cluster of this machine alone; then break a shard, and keep the error."""
    result = score_sharded(human, model, out, ray="local", workers=2, **OPTIONS)
    (model / "part-001.jsonl").write_text("no json")
    try:
        score_sharded(human, model, out, ray="local", **OPTIONS)
    except ValueError as error:
        keep(out, result.to_dict(), str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
