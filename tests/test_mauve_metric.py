"""Every way in which `evaluate.load` can find the metric, each in a process of its own."""

from __future__ import annotations

import hashlib
import http.server
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from samples import PACKAGE, ROOT

SCRIPT = ROOT / "mauve_metric.py"
pytestmark = pytest.mark.slow  # a process that imports evaluate anew, and a server in the place of the Hub

# Imports evaluate once and makes each step in a fork, since the import takes seconds: a third of them without
# transformers, which evaluate imports for its pipelines and a score of features never needs. What is "hidden" is not to
# be had by a plain import, installed or not; "site" is where packages are installed.
DRIVER = """
import json, os, sys, traceback
sys.modules["transformers"] = None
import evaluate, faiss, scipy.linalg
sys.pycache_prefix, sys.dont_write_bytecode = os.path.join(os.getcwd(), "bytecode"), False  # steps share packages
for line in sys.stdin:
    step = json.loads(line)
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.chdir(step["cwd"])
            sys.modules.update(dict.fromkeys(step["hidden"]))
            sys.path.insert(0, step["site"])
            evaluate.config.HF_EVALUATE_OFFLINE = step["offline"]
            evaluate.config.HF_MODULES_CACHE = step["modules"]
            found = {}
            for path in step["paths"]:
                metric = evaluate.load(path, **step["options"])
                features = [[float(i % 5), 1.0, float(i % 3)] for i in range(24)]
                out = metric.compute(reference_features=features, prediction_features=features[:20], num_buckets=4)
                package = sys.modules["mauve_metric"]
                found = {
                    "mauve": out.mauve,
                    "json": json.loads(json.dumps(out))["mauve"],
                    "name": metric.name,
                    "package": os.path.realpath(os.path.dirname(package.__file__)),
                    "version": package.__version__,
                    "class": type(metric).__module__,
                    "mauve_text": "mauve" in sys.modules,
                    "plain": str(getattr(sys.modules.get("mauve"), "__file__", None)),
                }
        except BaseException as error:
            found = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        print("\\nFOUND", stream.read(), flush=True)
    os.wait()
"""


def step(
    cwd: Path,
    *paths: str | Path,
    hidden: tuple[str, ...] = ("mauve_metric",),
    site: Path | None = None,
    offline: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Load the metric by each of the paths in turn, in a process whose working folder is `cwd`."""
    return {
        "cwd": str(cwd),
        "paths": [str(path) for path in paths],
        "hidden": () if site else hidden,
        "site": str(site or ""),
        "offline": offline,
        "options": options,
    }


class Loader:
    """A process that loads the metric, step by step, with the Hugging Face caches in `home`; the Hub is at `port`."""

    def __init__(self, home: Path) -> None:
        with socket.socket() as free:  # in use only while a test has a Hub
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.home = home
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "PYTHON"))}
        settings = {
            "HOME": str(home),
            "HF_HOME": str(home / "hf"),
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_XET": "1",
            "HF_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": sys.pycache_prefix or "",
            "OMP_NUM_THREADS": "1",
            "NO_PROXY": "127.0.0.1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            env=kept | settings,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=(home / "said").open("w"),
            text=True,
        )

    def run(self, modules: Path, steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Result of each step, with evaluate's copies of scripts in the folder `modules`."""
        return [self.found(step | {"modules": str(modules)}) for step in steps]

    def found(self, step: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps(step), file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("FOUND "):
                found: dict[str, Any] = json.loads(line[6:])
                return found
        raise AssertionError((self.home / "said").read_text())


@pytest.fixture(scope="module")
def loader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Loader]:
    made = Loader(tmp_path_factory.mktemp("home"))
    yield made
    with made.process:
        made.process.kill()  # it waits for the next step


def check(found: dict[str, Any], package: Path, version: str) -> None:
    assert "error" not in found, found["trace"]
    assert 0.9 < found["mauve"] <= 1 and found["json"] == found["mauve"]
    assert (found["package"], found["version"]) == (str(package.resolve()), version)
    assert (found["name"], found["class"]) == ("mauve", "mauve_metric.hosts.evaluate.metric")
    assert not found["mauve_text"], found["plain"]


def copy_package(folder: Path, version: str | None = None) -> Path:
    """A copy of the package in a folder, with a version of its own, without most of what a metric never imports: each
    file takes time to fetch."""
    target = folder / "mauve_metric"
    left_out = ("__pycache__", "space", "generation", "studies", "sharding", "cli")
    shutil.copytree(PACKAGE, target, ignore=shutil.ignore_patterns(*left_out))
    if version is not None:
        start = target / "__init__.py"
        start.write_text(start.read_text() + f'\n__version__ = "{version}"\n')
    return target


def copy_repository(folder: Path, version: str | None = None) -> Path:
    """A copy of what the repository has to offer to evaluate."""
    copy_package(folder, version)
    shutil.copy(SCRIPT, folder)
    return folder


def test_the_two_scripts_are_the_same() -> None:
    """The loader takes the one in the package from a folder, and the one at the root from the Hub."""
    assert SCRIPT.read_bytes() == (PACKAGE / "mauve_metric.py").read_bytes()


def test_the_package_wins_over_the_script_beside_it() -> None:
    script = "import mauve_metric; print(mauve_metric.__file__)"
    done = subprocess.run([sys.executable, "-B", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert Path(done.stdout.strip()).resolve() == PACKAGE / "__init__.py", done.stderr


@pytest.fixture(scope="module")
def local(loader: Loader, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, dict[str, Any]]]:
    """The folder and what each load from this disk found, all with the same caches, in this order."""
    home = tmp_path_factory.mktemp("local")
    first, second, elsewhere, mixed = (home / name for name in ("first", "second", "elsewhere", "mixed"))
    for folder, version in ((first, "1.0"), (second, "2.0"), (home / "mauve", "3.0"), (home / "site", "4.0")):
        copy_repository(folder, version)
    shutil.copy(SCRIPT, home / "mauve" / "mauve.py")
    for name in ("mauve/mauve.py", "mauve_metric/mauve_metric.py"):
        (mixed / name).parent.mkdir(parents=True)
        shutil.copy(SCRIPT, mixed / name)
    elsewhere.mkdir()
    shutil.copy(SCRIPT, elsewhere / "alone.py")
    os.symlink(first / "mauve_metric" / "mauve_metric.py", elsewhere / "linked.py")
    steps = {
        "bare name": step(first, "mauve_metric"),
        "relative": step(first, "./mauve_metric"),
        "script in the package": step(first, "mauve_metric/mauve_metric.py"),
        "script at the root": step(first, "mauve_metric.py"),
        "absolute": step(elsewhere, first / "mauve_metric"),
        "absolute with a slash": step(elsewhere, f"{first}/mauve_metric/"),
        "absolute script": step(elsewhere, first / "mauve_metric.py"),
        "link": step(elsewhere, "linked.py"),
        "other checkout": step(elsewhere, second / "mauve_metric"),
        "other checkout, relative": step(elsewhere, "../second/mauve_metric"),
        "one checkout after the other": step(first, first / "mauve_metric", second / "mauve_metric"),
        "repository called mauve": step(home, "mauve"),
        "script alone": step(elsewhere, "alone.py"),
        "no faiss": step(first, "mauve_metric", hidden=("mauve_metric", "faiss")),
        "installed": step(elsewhere, home / "site" / "mauve_metric", site=home / "site"),
        "installed, folder mauve": step(mixed, "mauve", site=home / "site"),
        "installed, folder ./mauve": step(mixed, "./mauve", site=home / "site"),
        "installed, script mauve.py": step(elsewhere, mixed / "mauve" / "mauve.py", site=home / "site"),
        "installed, bare folder": step(mixed, "mauve_metric", site=home / "site"),
        "installed, script alone": step(elsewhere, "alone.py", site=home / "site"),
        "installed, in the package": step(home / "site" / "mauve_metric", "mauve_metric.py", site=home / "site"),
    }
    return home, dict(zip(steps, loader.run(home / "modules", list(steps.values())), strict=True))


@pytest.mark.parametrize(
    "way",
    [
        "bare name",
        "relative",
        "script in the package",
        "script at the root",
        "absolute",
        "absolute with a slash",
        "absolute script",
        "link",
        "one checkout after the other",
    ],
)
def test_from_a_checkout(local: tuple[Path, dict[str, dict[str, Any]]], way: str) -> None:
    """The package is not installed: it is found beside the script, however that was named."""
    home, found = local
    check(found[way], home / "first" / "mauve_metric", "1.0")


@pytest.mark.parametrize("way", ["other checkout", "other checkout, relative"])
def test_from_another_checkout_with_the_same_script(local: tuple[Path, dict[str, dict[str, Any]]], way: str) -> None:
    """evaluate keeps one copy of equal scripts, with a note of where the first came from."""
    home, found = local
    check(found[way], home / "second" / "mauve_metric", "2.0")


def test_under_the_name_mauve(local: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    home, found = local
    check(found["repository called mauve"], home / "mauve" / "mauve_metric", "3.0")


@pytest.mark.parametrize("way", ["", ", folder mauve", ", folder ./mauve", ", script mauve.py"])
def test_with_the_package_installed(local: tuple[Path, dict[str, dict[str, Any]]], way: str) -> None:
    """The script may have any name, also that of mauve-text, which is installed here too."""
    home, found = local
    check(found[f"installed{way}"], home / "site" / "mauve_metric", "4.0")


@pytest.mark.parametrize("way", ["bare folder", "script alone", "in the package"])
def test_what_looks_like_the_package_is_passed_over(local: tuple[Path, dict[str, dict[str, Any]]], way: str) -> None:
    """The script itself, or a folder with nothing but the script, stands first on the path."""
    home, found = local
    check(found[f"installed, {way}"], home / "site" / "mauve_metric", "4.0")


def test_errors_say_what_to_do(local: tuple[Path, dict[str, dict[str, Any]]]) -> None:
    _, found = local
    assert "ImportError: the package mauve_metric is neither installed nor beside" in found["script alone"]["error"]
    assert "ImportError: the metric mauve_metric needs faiss-cpu" in found["no faiss"]["error"]
    assert "pip install numpy scipy faiss-cpu" in found["no faiss"]["error"]


# --- from the Hub -------------------------------------------------------------------------------------------------


class FakeHub(http.server.ThreadingHTTPServer):
    """A Hub on the loopback interface with one Space, `user/mauve_metric`, at several revisions."""

    def __init__(self, port: int, revisions: dict[str, Path]) -> None:
        super().__init__(("127.0.0.1", port), FakeHubHandler)
        self.folders = dict(revisions)
        self.commits = {name: hashlib.sha1(name.encode()).hexdigest() for name in revisions}
        self.folders |= {self.commits[name]: folder for name, folder in revisions.items()}
        self.files = {folder: dict(_files(folder)) for folder in revisions.values()}


def _files(folder: Path) -> Iterator[tuple[str, tuple[bytes, str]]]:
    """The path, the content and its hash of each file of a revision."""
    for file in folder.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            yield str(file.relative_to(folder)), (content, hashlib.sha1(content).hexdigest())


class FakeHubHandler(http.server.BaseHTTPRequestHandler):
    server: FakeHub

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        for kind, prefix in (
            ("resolve", "/spaces/user/mauve_metric/resolve/"),
            ("revision", "/api/spaces/user/mauve_metric/revision/"),
            ("tree", "/api/spaces/user/mauve_metric/tree/"),
        ):
            if path.startswith(prefix):
                revision, _, name = path.removeprefix(prefix).partition("/")
                folder = self.server.folders.get(revision)
                if folder is not None:
                    self.answer(kind, folder, self.server.commits.get(revision, revision), name)
                    return
        self.send_response(404)
        self.send_header("X-Error-Code", "RevisionNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self, kind: str, folder: Path, commit: str, name: str) -> None:
        files = self.server.files[folder]
        if kind == "resolve" and name not in files:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if kind == "resolve":
            body, oid = files[name]
            headers = {"ETag": f'"{oid}"', "X-Repo-Commit": commit}
        elif kind == "revision":
            siblings = [{"rfilename": path} for path in files]
            body = json.dumps({"id": "user/mauve_metric", "sha": commit, "siblings": siblings}).encode()
            headers = {"Content-Type": "application/json"}
        else:
            rows = [
                {"type": "file", "path": path, "oid": oid, "size": len(content)}
                for path, (content, oid) in files.items()
            ]
            body, headers = json.dumps(rows).encode(), {"Content-Type": "application/json"}
        self.send_response(200)
        for header, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""


@pytest.fixture
def hub(loader: Loader, tmp_path: Path) -> Iterator[FakeHub]:
    """The same entry script at every revision, since it changes least; the package differs."""
    space = {name: tmp_path / "space" / name for name in ("main", "v0.0.1", "branch")}
    for name, folder in space.items():
        copy_repository(folder, version=f"of-{name}")
    (space["main"] / "app.py").write_text("raise SystemExit('the page of the Space is not to be fetched')\n")
    server = FakeHub(loader.port, space)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_from_the_hub_and_then_without_it(loader: Loader, hub: FakeHub, tmp_path: Path) -> None:
    site = tmp_path / "site"
    installed = copy_package(site, "installed")
    space = "user/mauve_metric"
    steps = [
        step(tmp_path, space, site=site),
        step(tmp_path, space),
        step(tmp_path, space, revision="branch"),
        step(tmp_path, space, revision="0.0.1"),
        step(tmp_path, space),
        step(tmp_path, space, revision="nonsense"),
    ]
    online = loader.run(tmp_path / "modules", steps)
    snapshots = loader.home / "hf/hub/spaces--user--mauve_metric/snapshots"
    check(online[0], installed, "installed")
    for result, revision in zip(online[1:], ("main", "branch", "v0.0.1", "main"), strict=False):
        check(result, snapshots / hub.commits[revision] / "mauve_metric", f"of-{revision}")
    assert "error" in online[5]
    for snapshot in snapshots.iterdir():
        assert [path.name for path in snapshot.iterdir()] == ["mauve_metric"]

    hub.shutdown()
    hub.server_close()
    steps = [step(tmp_path, space), step(tmp_path, space, revision="branch"), step(tmp_path, space, offline=True)]
    offline = loader.run(tmp_path / "modules", steps)
    for result, revision in zip(offline, ("main", "branch", "main"), strict=True):
        check(result, snapshots / hub.commits[revision] / "mauve_metric", f"of-{revision}")
