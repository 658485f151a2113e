"""Ray on several hosts, made on one machine: hosts are lost, added, cut off and misfitted while `score --ray` works.

    python benchmarks/ray_hosts.py [CASE ...] [--human FILE] [--model FILE] [--featurize-model-name NAME] [--shards 30]

Each host is a set of Linux namespaces: an address of its own behind a common switch, processes, a host name, Ray's
folder, shared memory and a folder that the others do not see. All other files are shared, as NFS would share them.
Every case is compared with the score of one process; messages are below the table. A host has one CPU for Ray.
Needs root, `unshare`, `nsenter` and `ip`; nothing of it can be reached from outside, and it ends with this process.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from machine import machine
from shards import tiny_model

ROOT = Path(__file__).resolve().parent.parent
PORT = 6379
ADDRESS = f"10.77.0.1:{PORT}"
HOSTS = 3
STARTS = 3  # attempts
HAPPENS_AFTER = 12  # shards
STORE = 80_000_000  # bytes of Ray's object store a host, close to the least that it takes
NAMESPACES = ("--net", "--mount", "--uts", "--ipc", "--pid")
ENVIRONMENT = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": secrets.token_hex(32),
    "PYTHONPATH": str(ROOT),
    "OMP_NUM_THREADS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_OFFLINE": "1",
    "RAY_raylet_start_wait_time_s": "120",
}


def why_not() -> str | None:
    """Why hosts cannot be made here; None if they can."""
    missing = [name for name in ("unshare", "nsenter", "ip") if shutil.which(name) is None]
    if missing:
        return f"{' and '.join(missing)} cannot be found (Debian: util-linux, iproute2)"
    tried = subprocess.run(["unshare", *NAMESPACES, "--fork", "true"], capture_output=True, text=True, check=False)
    return None if tried.returncode == 0 else f"namespaces cannot be made here, root is needed: {tried.stderr.strip()}"


class Host:
    """A set of namespaces that lasts as long as its first process, and that as long as this one."""

    def __init__(self, name: str, setup: str = "") -> None:
        self.name = name
        script = f"hostname {name}; ip link set lo up; {setup}\necho ready; exec cat"
        flags = [*NAMESPACES, "--fork", "--kill-child", "--mount-proc"]
        self.holder = subprocess.Popen(
            ["unshare", *flags, "sh", "-ec", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.holder.stdout is not None
        if self.holder.stdout.readline() != "ready\n":
            raise SystemExit(f"the host {name} cannot be made")
        children = Path(f"/proc/{self.holder.pid}/task/{self.holder.pid}/children").read_text()
        self.first = children.split()[0]

    def command(self, *words: str, folder: str | Path = "/") -> list[str]:
        """The command line that runs a command on this host."""
        return ["nsenter", "-t", self.first, *NAMESPACES, f"--wd={folder}", *words]

    def run(self, *words: str) -> str:
        """Run a command to its end; what it said."""
        environment = {**os.environ, **ENVIRONMENT}
        done = subprocess.run(self.command(*words), capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise RuntimeError(
                f"{self.name}: {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}"
            )
        return done.stdout

    def ip(self, *words: str) -> None:
        """Change its network."""
        subprocess.run(["nsenter", "-t", self.first, "--net", "ip", *words], check=True)

    def end(self) -> None:
        """All of its processes are gone at once, as if the power were cut; its network goes with them."""
        self.holder.kill()
        self.holder.wait()


class Cluster:
    """Hosts behind one switch, the first of which is Ray's head."""

    def __init__(self, private: Path) -> None:
        self.private = private
        self.switch = Host("switch", "ip link add bridge type bridge; ip link set bridge up")
        self.hosts: list[Host] = []
        self.made = 0

    @property
    def head(self) -> Host:
        """The host on which the cluster was started."""
        return self.hosts[0]

    def add(self, setup: str = "", python: str = sys.executable) -> Host:
        """Another host, on which Ray runs."""
        self.made += 1
        plug, address = f"plug{self.made}", f"10.77.0.{self.made}"
        ray = Path(tempfile.gettempdir()) / "ray"
        ray.mkdir(exist_ok=True)
        mounts = "".join(f"mount -t tmpfs tmpfs {folder};" for folder in (ray, "/dev/shm", self.private))
        host = Host(f"host{self.made}", mounts + setup)
        self.switch.ip("link", "add", plug, "type", "veth", "peer", "name", "eth0", "netns", host.first)
        self.switch.ip("link", "set", plug, "master", "bridge", "up")
        host.ip("address", "add", f"{address}/24", "dev", "eth0")
        host.ip("link", "set", "eth0", "up")
        role = [f"--address={ADDRESS}"] if self.hosts else ["--head", f"--port={PORT}", "--include-dashboard=false"]
        start = [python, "-m", "ray.scripts.scripts", "start", *role, f"--node-ip-address={address}", "--num-cpus=1"]
        for left in reversed(range(STARTS)):  # on a busy machine Ray's own limits of time may be too short
            try:
                host.run(*start, f"--object-store-memory={STORE}")
                break
            except RuntimeError:
                if not left:
                    raise
        self.hosts.append(host)
        return host

    def unplug(self, host: Host) -> None:
        """The host goes on, but is cut off from the others."""
        self.switch.ip("link", "set", f"plug{host.name.removeprefix('host')}", "down")

    def lose(self, host: Host) -> None:
        """All processes of a host are gone at once, as if its power were cut."""
        self.hosts.remove(host)
        host.end()

    def end(self) -> None:
        """Nothing of it is left."""
        for host in (*self.hosts, self.switch):
            host.end()


@dataclass
class Ended:
    """A job that came to its end: its exit status, its result and what else it said.

    seconds: how long it took. after: of them, since what happened to it.
    """

    status: int
    seconds: float
    after: float
    told: str
    said: str

    def lines(self) -> list[str]:
        """The output without progress lines and Ray's own."""
        lines = [line for line in self.said.splitlines() if line.startswith("mauve-metric: ")]
        return [line.removeprefix("mauve-metric: ") for line in lines if " elapsed, " not in line]


class Job:
    """`score` of the same shards again and again, each time into a new folder."""

    def __init__(self, root: Path, featurizer: str) -> None:
        self.root, self.featurizer = root, featurizer
        self.number = 0

    def output(self) -> Path:
        """A new folder for results, on what all hosts share."""
        self.number += 1
        return self.root / f"out{self.number}"

    def start(self, output: Path, host: Host | None = None) -> subprocess.Popen[str]:
        """Begin, on the cluster that a host belongs to, or without Ray."""
        words = [sys.executable, "-m", "mauve_metric", "score", *([] if host is None else [f"--ray={ADDRESS}"])]
        words += [str(self.root / "human"), str(self.root / "model"), "-o", str(output)]
        words += ["--featurize-model-name", self.featurizer, "--num-buckets", "20", "--json", "--device", "cpu"]
        return subprocess.Popen(
            words if host is None else host.command(*words, folder=self.root),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.root,
            env={**os.environ, **ENVIRONMENT},
        )

    def run(
        self, host: Host | None = None, output: Path | None = None, then: Callable[[], object] = lambda: None
    ) -> Ended:
        """To the end, with something that happens when the first shards are done."""
        output = output or self.output()
        start = time.monotonic()
        process = self.start(output, host)
        while len(list(output.glob("features/*.npy"))) < HAPPENS_AFTER and process.poll() is None:
            time.sleep(0.05)
        happened = time.monotonic()
        then()
        told, said = process.communicate()
        end = time.monotonic()
        return Ended(process.returncode, end - start, end - happened, told, said)


def undisturbed(cluster: Cluster, job: Job) -> Ended:
    """Three hosts, to compare with."""
    return job.run(cluster.head)


def raylet(cluster: Cluster, job: Job) -> Ended:
    """Ray's own process is killed on one host."""
    host = cluster.hosts.pop()
    ended = job.run(cluster.head, then=lambda: host.run("pkill", "-KILL", "raylet"))
    host.end()
    return ended


def power(cluster: Cluster, job: Job) -> Ended:
    """The power of one host is cut."""
    return job.run(cluster.head, then=lambda: cluster.lose(cluster.hosts[-1]))


def unplugged(cluster: Cluster, job: Job) -> Ended:
    """The network of one host is cut; it works on, cut off from the others."""
    ended = job.run(cluster.head, then=lambda: cluster.unplug(cluster.hosts[-1]))
    cluster.lose(cluster.hosts[-1])
    return ended


def added(cluster: Cluster, job: Job) -> Ended:
    """One host is there at first, and another comes."""
    for host in cluster.hosts[1:]:
        cluster.lose(host)
    return job.run(cluster.head, then=cluster.add)


def driver(cluster: Cluster, job: Job) -> Ended:
    """The command itself is killed, and given again."""
    output = job.output()
    job.run(cluster.head, output, then=lambda: cluster.head.run("pkill", "-KILL", "-f", "mauve_metric score"))
    return again(cluster, job, output)


def again(cluster: Cluster, job: Job, output: Path) -> Ended:
    """The same command again; it says how many files of features were there, and that they were left alone."""
    before = {file: file.stat().st_mtime_ns for file in output.glob("features/*.npy")}
    ended = job.run(cluster.head, output)
    kept = sum(file.stat().st_mtime_ns == written for file, written in before.items())
    ended.said += f"\nmauve-metric: {len(before)} shards were done, {kept} of them were not done again"
    return ended


def package(cluster: Cluster, job: Job) -> Ended:
    """The package is not installed on one host."""
    return with_host(cluster, job, f"mount -t tmpfs tmpfs {ROOT}/mauve_metric")


def version(cluster: Cluster, job: Job) -> Ended:
    """One host has another version of the package."""
    other = job.root / "version.py"
    other.write_text('__version__ = "0.0.1"\n', encoding="utf-8")
    return with_host(cluster, job, f"mount --bind {other} {ROOT}/mauve_metric/version.py")


def model(cluster: Cluster, job: Job) -> Ended:
    """The folder of the model is not on one host."""
    return with_host(cluster, job, f"mount -t tmpfs tmpfs {job.featurizer}")


def with_host(cluster: Cluster, job: Job, setup: str) -> Ended:
    """Two sound hosts, and one to which something was done."""
    cluster.lose(cluster.hosts[-1])
    host = cluster.add(setup)
    ended = job.run(cluster.head)
    cluster.lose(host)
    return ended


def private(cluster: Cluster, job: Job) -> Ended:
    """The output folder is on the head's own disk."""
    return job.run(cluster.head, cluster.private / "out")


def everywhere(cluster: Cluster, job: Job) -> Ended:
    """Each host has an output folder of its own under the same name."""
    output = cluster.private / "out-everywhere"
    for host in cluster.hosts:
        host.run("mkdir", "-p", f"{output}/features")
    return job.run(cluster.head, output)


def head(cluster: Cluster, job: Job) -> Ended:
    """The head is lost, and so the cluster; the command, on another host, ends, and is given to a new one."""
    output = job.output()
    ended = job.run(cluster.hosts[1], output, then=cluster.head.end)
    with new_cluster(cluster.private) as other:
        other.add()
        later = again(other, job, output)
    return Ended(ended.status, ended.seconds, ended.after, later.told, ended.said + later.said)


# The last one leaves no cluster behind.
CASES = (undisturbed, raylet, power, unplugged, added, driver, package, version, model, private, everywhere, head)


@contextlib.contextmanager
def new_cluster(private_folder: Path) -> Iterator[Cluster]:
    """A cluster that ends with the block."""
    cluster = Cluster(private_folder)
    try:
        yield cluster
    finally:
        cluster.end()


def write_shards(file: Path, folder: Path, count: int) -> None:
    """The lines of a file, shared out to so many."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    folder.mkdir()
    for number in range(count):
        part = lines[len(lines) * number // count : len(lines) * (number + 1) // count]
        (folder / f"part-{number:03d}.jsonl").write_text("".join(part), encoding="utf-8")


def main() -> None:
    """Run the cases."""
    names = {case.__name__: case for case in CASES}
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{name:12} {case.__doc__}" for name, case in names.items()),
    )
    parser.add_argument("cases", metavar="CASE", nargs="*", choices=[[], *names], help="(default: all)")
    parser.add_argument("--human", metavar="FILE", type=Path, default=ROOT / "examples" / "human.jsonl")
    parser.add_argument("--model", metavar="FILE", type=Path, default=ROOT / "examples" / "nucleus.jsonl")
    parser.add_argument("--featurize-model-name", metavar="NAME", help="(default: a tiny GPT-2)")
    parser.add_argument("--shards", metavar="N", type=int, default=30, help="a side (default: 30)")
    options = parser.parse_args()
    reason = why_not()
    if reason is not None:
        raise SystemExit(reason)
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "private").mkdir()
        write_shards(options.human, root / "human", options.shards)
        write_shards(options.model, root / "model", options.shards)
        if options.featurize_model_name is None:
            tiny_model(root / "tiny")
        job = Job(root, options.featurize_model_name or str(root / "tiny"))
        compare(job, [case for name, case in names.items() if name in (options.cases or names)])


def compare(job: Job, cases: list[Callable[[Cluster, Job], Ended]]) -> None:
    """A row for each case, beside one process; messages below."""
    alone = job.run()
    print("| case | exit | same JSON | s | s after it happened |\n|---|--:|---|--:|--:|")
    print(f"| One process. | {alone.status} | | {alone.seconds:.0f} | {alone.after:.0f} |", flush=True)
    told: list[str] = []
    if model in cases and not Path(job.featurizer).is_dir():
        cases.remove(model)
        told.append("model: left out, since the featurizer is no folder")
    with new_cluster(job.root / "private") as cluster:
        for case in cases:
            while len(cluster.hosts) < HOSTS:
                cluster.add()
            ended = case(cluster, job)
            same = "yes" if ended.told == alone.told else "no"
            print(f"| {case.__doc__} | {ended.status} | {same} | {ended.seconds:.0f} | {ended.after:.0f} |", flush=True)
            told += [f"{case.__name__}: {line}" for line in ended.lines()]
    print("\n" + "\n".join(told))


if __name__ == "__main__":
    main()
