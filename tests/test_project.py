"""The rules that the project keeps about itself: pins, names, what an import costs."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import sys
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from samples import PACKAGE, ROOT

import mauve_metric


@functools.cache
def project() -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"])


def requirements(*extras: str) -> list[Requirement]:
    """The package's runtime requirements and those of some extras, without the package itself."""
    lines = list(project()["dependencies"])
    for extra in extras:
        lines += project()["optional-dependencies"][extra]
    return [found for found in map(Requirement, lines) if canonicalize_name(found.name) != "mauve-metric"]


@functools.cache
def pins() -> dict[str, str]:
    """requirements.txt: name → version."""
    found = {}
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line and not line.startswith("-"):
            match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+-]+)", line)
            assert match is not None, f"not a pin: {line!r}"
            found[canonicalize_name(match[1])] = match[2]
    return found


# --- requirements.txt ---------------------------------------------------------------------------------------------


def test_every_dependency_is_pinned() -> None:
    needed = {canonicalize_name(found.name) for found in requirements("evaluate", "minilm", "space")}
    assert needed - set(pins()) == set()


def test_every_pin_is_in_the_range_of_pyproject() -> None:
    checked = 0
    for found in requirements(*project()["optional-dependencies"]):
        version = pins().get(canonicalize_name(found.name))
        if version is not None:
            assert found.specifier.contains(version, prereleases=True), f"{found} against the pin {version}"
            checked += 1
    assert checked >= len(requirements("evaluate", "minilm", "space"))


def test_gradio_is_the_version_of_the_card() -> None:
    card = (ROOT / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\n")
    front = card.split("---\n")[1]
    match = re.search(r"^sdk_version: *[\"']?([0-9.]+)[\"']?$", front, flags=re.MULTILINE)
    assert match is not None, "README.md has no sdk_version in its front matter"
    assert match[1] == pins()["gradio"]


# --- the package --------------------------------------------------------------------------------------------------


def test_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


def test_file_names_say_what_they_compute() -> None:
    vague = {"utils", "util", "helpers", "helper", "base", "manager", "registry", "common", "misc", "core"}
    modules = list(PACKAGE.rglob("*.py"))
    assert len(modules) > 50
    assert {path.stem for path in modules} & vague == set()
    assert "mauve" not in {path.stem for path in [*modules, *ROOT.glob("*.py")]}  # it would hide mauve-text


def test_no_public_name_is_also_a_module() -> None:
    for name in mauve_metric.__all__:
        assert importlib.util.find_spec(f"mauve_metric.{name}") is None, name


def test_every_public_name_is_there() -> None:
    # by a fresh process: here all modules may be loaded already
    code = "import mauve_metric as m; assert set(m.__all__) <= set(dir(m)); [getattr(m, name) for name in m.__all__]"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    with pytest.raises(AttributeError, match="has no attribute 'compute_mauv'"):
        mauve_metric.compute_mauv  # noqa: B018


HEAVY = "torch transformers faiss sklearn evaluate gradio datasets altair accelerate pandas scipy numpy".split()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = f"import sys, mauve_metric; sys.exit(', '.join(set({HEAVY!r}) & set(sys.modules)) or 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_readme_shows_the_table_of_scores() -> None:
    from mauve_metric.results.scores import SCORES

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, score in SCORES.items():
        row = next((line for line in readme.split("\n") if line.startswith(f"| `{name}` |")), None)
        assert row is not None, name
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1] == score.better
        assert cells[3:] == [score.meaning, score.paper]
