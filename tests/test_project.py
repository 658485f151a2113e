"""The rules that the project keeps about itself: pins, imports, names, lint and types."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "mauve_metric"
MODULES = sorted(PACKAGE.glob("*.py"))


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


# --- imports ------------------------------------------------------------------------------------------------------

STAGES = ("nearest_centres", "divergence", "precision_recall", "nearest_neighbours", "embedding_statistics")
ALONE = (*STAGES, "on_device", "feature_rows", "encoder", "texts", "config", "scores", "feature_cache", "progress")
VIEWS = {"metric", "cli", "cli_arguments", "callback", "model_evaluation", "app", "mauve_metric", "__main__"}
HEAVY = {
    "torch",
    "transformers",
    "faiss",
    "sklearn",
    "evaluate",
    "gradio",
    "datasets",
    "altair",
    "accelerate",
    "pandas",
}


def siblings(path: Path) -> set[str]:
    """The package's modules that a module imports anywhere, but for type checking."""
    names = {module.stem for module in MODULES}
    found: set[str] = set()
    for node in running_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}, line {node.lineno}: imports are absolute here"
            if node.module == "mauve_metric":
                found |= {alias.name for alias in node.names if alias.name in names}
            elif node.module is not None and node.module.startswith("mauve_metric."):
                found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mauve_metric.")}
    return found


def running_nodes(tree: ast.AST) -> list[ast.AST]:
    """Every node but those under `if TYPE_CHECKING`."""
    nodes = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        nodes += [node, *running_nodes(node)]
    return nodes


@pytest.mark.parametrize("name", ALONE)
def test_stages_import_no_sibling(name: str) -> None:
    path = PACKAGE / f"{name}.py"
    if not path.is_file():
        pytest.skip(f"there is no {path.name}")
    assert siblings(path) == set()


def test_quantize_builds_on_its_quantizers() -> None:
    assert siblings(PACKAGE / "kmeans.py") <= {"nearest_centres", "on_device"}
    assert siblings(PACKAGE / "quantize.py") <= {"kmeans", "lattice", "drmm", "feature_rows", "on_device"}
    assert siblings(PACKAGE / "large.py") <= {"kmeans", "nearest_centres", "quantize", "feature_rows"}


def test_featurize_builds_on_the_encoder() -> None:
    assert siblings(PACKAGE / "featurize.py") <= {"encoder", "distributed", "model_state", "on_device", "run_estimate"}
    for name in ("distributed", "model_state", "run_estimate"):
        assert siblings(PACKAGE / f"{name}.py") <= {"encoder"}, name


def test_results_import_nothing_that_computes() -> None:
    # their methods load what draws and prints when they are called
    shown = {"plot", "plot_compare", "tables", "report"}
    assert siblings(PACKAGE / "result.py") <= {"plot", "scores"}
    assert siblings(PACKAGE / "explanation.py") <= {"result"} | shown
    assert siblings(PACKAGE / "comparison.py") <= {"result", "explanation"} | shown


def test_only_views_import_views() -> None:
    for path in MODULES:
        if path.stem not in VIEWS:
            assert siblings(path) & VIEWS == set(), path.name


def test_only_the_top_knows_compute() -> None:
    # `reference` calls it back from a method, for `Reference.from_texts`
    allowed = VIEWS | {"__init__", "compute", "reference", "reference_scoring", "compare", "explain"}
    assert {path.stem for path in MODULES if "compute" in siblings(path)} <= allowed


def test_histogram_maths_builds_on_divergence_alone() -> None:
    for name in ("uncertainty", "gap", "phrases"):
        path = PACKAGE / f"{name}.py"
        if path.is_file():
            assert siblings(path) <= {"divergence", "quantize", "precision_recall"}, name
    assert siblings(PACKAGE / "differences.py") <= {"uncertainty", "quantize", "config"}
    assert siblings(PACKAGE / "forecast.py") <= {"divergence", "uncertainty"}


def test_writing_texts_knows_nothing_of_scoring() -> None:
    assert siblings(PACKAGE / "generate.py") <= {"encoder", "model_state"}
    assert siblings(PACKAGE / "prompts.py") <= {"generate", "texts"}


def test_imports_at_the_top_of_a_module_have_no_cycle() -> None:
    graph: dict[str, set[str]] = {}
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top = ast.Module([node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))], [])
        names = {module.stem for module in MODULES}
        graph[path.stem] = {
            name
            for node in top.body
            if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("mauve_metric")
            for name in (node.module.split(".")[1:2] or [alias.name for alias in node.names])
            if name in names
        }
    del graph["__init__"]
    while graph:
        leaves = {name for name, needs in graph.items() if not needs & set(graph)}
        assert leaves, f"a cycle among {sorted(graph)}"
        graph = {name: needs for name, needs in graph.items() if name not in leaves}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_heavy_packages_are_imported_by_functions(path: Path) -> None:
    if path.stem in ("metric", "mauve_metric", "callback"):
        return  # a class of the host needs the host
    for node in running_nodes(ast.Module(ast.parse(path.read_text(encoding="utf-8")).body, [])):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and node.col_offset == 0:
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            assert {name.split(".")[0] for name in names} & HEAVY == set(), f"{path.name}, line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_mauve_text_is_never_imported(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert "mauve" not in {name.split(".")[0] for name in names}


# --- habits -------------------------------------------------------------------------------------------------------


def test_file_names_say_what_they_compute() -> None:
    vague = {"utils", "util", "helpers", "helper", "base", "manager", "registry", "common", "misc", "core"}
    assert {path.stem for path in MODULES} & vague == set()
    assert "mauve" not in {path.stem for path in [*MODULES, *ROOT.glob("*.py")]}  # it would hide mauve-text


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_assert_and_no_print(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not isinstance(node, ast.Assert), f"{path.name}, line {node.lineno}: raise an error"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert path.name == "cli.py", f"{path.name}, line {node.lineno}: log it"


def test_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").is_file()


# --- tools --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]], ids=["lint", "format", "types"]
)
def test_tools_are_content(arguments: list[str], tmp_path: Path) -> None:
    pytest.importorskip(arguments[0])
    options = ["--cache-dir", str(tmp_path)] if arguments[0] == "ruff" else []
    run = subprocess.run(
        [sys.executable, "-m", *arguments, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_readme_shows_the_table_of_scores() -> None:
    from mauve_metric.scores import SCORES

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, score in SCORES.items():
        row = next((line for line in readme.split("\n") if line.startswith(f"| `{name}` |")), None)
        assert row is not None, name
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[1] == score.better
        assert cells[3:] == [score.meaning, score.paper]
