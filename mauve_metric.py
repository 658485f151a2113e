"""Script that `evaluate.load` copies and runs: it finds the package `mauve_metric` and returns its metric.

The loader copies this file alone, under whatever name it has, into a cache of its own. The package is therefore
looked for in this order: where Python finds it; beside the script that was asked for; on the Hub, in the Space and at
the revision that was asked for. The copy at the root of the repository is what the Hub serves: keep the two the same.
"""

import importlib
import importlib.util
import inspect
import json
import re
import sys
import urllib.parse
import warnings
from pathlib import Path
from types import FrameType

PACKAGE = "mauve_metric"
NEEDED = {"numpy": "numpy", "scipy": "scipy", "faiss": "faiss-cpu"}  # module: what to install; the rest when it is used
INSTALL = "pip install numpy scipy faiss-cpu torch transformers tqdm"


def load_metric_class() -> type:
    """The class `Mauve` of the package, wherever the package is."""
    missing = [name for module, name in NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise ImportError(f"the metric {PACKAGE} needs {', '.join(missing)}, not found here: {INSTALL}")
    if not is_importable():
        import_package(find_package())
    metric_class: type = importlib.import_module(f"{PACKAGE}.hosts.evaluate.metric").Mauve
    return metric_class


def is_importable() -> bool:
    """Return whether Python finds the package by itself (and not just this script or an empty folder of its name)."""
    if hasattr(sys.modules.get(PACKAGE), "__found_by_script__"):
        return False
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return False
    folders = (spec and spec.submodule_search_locations) or ()
    return any(is_package(Path(folder)) for folder in folders)


def is_package(folder: Path) -> bool:
    """Return whether a folder holds the package's code."""
    return all((folder / name).is_file() for name in ("__init__.py", "options.py", "hosts/evaluate/metric.py"))


def import_package(folder: Path) -> None:
    """Import the package from its folder, without a change of `sys.path`."""
    loaded = getattr(sys.modules.get(PACKAGE), "__found_by_script__", None)
    if loaded is not None:
        if loaded != str(folder):
            warnings.warn(f"{PACKAGE} stays as loaded from {loaded}: restart Python to use {folder}", stacklevel=2)
        return
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} cannot be imported")
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    try:
        spec.loader.exec_module(package)
    except BaseException:
        del sys.modules[PACKAGE]
        raise
    package.__dict__["__found_by_script__"] = str(folder)


def find_package() -> Path:
    """The package's folder: beside the script that was asked for, or fetched from its Space."""
    asked, revision = asked_for()
    original = original_script()
    for script in (local_script(asked), original, Path(__file__)):
        folder = beside(script) if script is not None else None
        if folder is not None:
            return folder
    space, revision = space_of(asked, revision, original)
    if space is None:
        raise ImportError(
            f"the package {PACKAGE} is neither installed nor beside {asked or original or __file__}: install it "
            f"and use evaluate.load({PACKAGE}.evaluate_path()), or load the script of a whole checkout (with "
            "download_mode='force_redownload' if it has moved)"
        )
    return fetch(space, revision)


def asked_for() -> tuple[str | None, str | None]:
    """The `path` and `revision` of the running `evaluate.load`, which its caches do not keep apart."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_name == "load" and frame.f_globals.get("__name__") == "evaluate.loading":
            path, revision = frame.f_locals.get("path"), frame.f_locals.get("revision")
            return path and str(path), revision and str(revision)
        frame = frame.f_back
    return None, None


def local_script(asked: str | None) -> Path | None:
    """The script on this disk that `evaluate.load` was asked for, if it was one."""
    path = Path(asked) if asked else None
    if path is not None and path.is_dir():
        path = path / f"{path.name}.py"
    return path if path is not None and path.is_file() else None


def original_script() -> Path | None:
    """Path that the loader copied this file from, by its own record."""
    notes = read_json(Path(__file__.split(".py")[0] + ".json"))  # this is how evaluate makes the name
    return Path(notes["original file path"]) if "original file path" in notes else None


def beside(script: Path) -> Path | None:
    """The package's folder as seen from a script in it, at the root of the repository, or in a folder of its own."""
    for folder in dict.fromkeys((script.absolute().parent, script.resolve().parent)):
        for candidate in (folder, folder / PACKAGE, folder.parent / PACKAGE):
            if is_package(candidate):
                return candidate
    return None


def space_of(asked: str | None, revision: str | None, original: Path | None) -> tuple[str | None, str]:
    """The Space and the revision that the script came from, as asked for, else as its download says."""
    if asked and re.fullmatch(r"[\w.-]+/[\w.-]+", asked) and local_script(asked) is None:
        numbered = revision is not None and re.match(r"\d*\.\d*\.\d*", revision)  # evaluate puts a v before these
        return asked, f"v{revision}" if numbered else revision or "main"
    url = read_json(Path(f"{original}.json")).get("url", "") if original is not None else ""
    match = re.search(r"/spaces/([^/]+/[^/]+)/resolve/([^/]+)/", url)
    return (match[1], urllib.parse.unquote(match[2])) if match else (None, "main")


def fetch(space: str, revision: str) -> Path:
    """The package's folder in a snapshot of the Space, from the cache when there is no network."""
    from evaluate import config
    from huggingface_hub import snapshot_download

    offline = bool(config.HF_EVALUATE_OFFLINE)
    snapshot = snapshot_download(
        space, repo_type="space", revision=revision, allow_patterns=f"{PACKAGE}/*", local_files_only=offline
    )
    folder = Path(snapshot) / PACKAGE
    if not is_package(folder):
        raise ImportError(f"the Space {space} has no package {PACKAGE} at revision {revision}")
    return folder


def read_json(path: Path) -> dict[str, str]:
    """The object in a JSON file, empty if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


Mauve = load_metric_class()
