"""The runner of the recipes: what it installs and runs for each."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest
from samples import ROOT, script

PAGE = """# Recipes

## First

`pip install ./mauve_metric pandas`

<!-- run first: texts = ["a"] -->
```python
print(texts)
```

## In a shell

<!-- run first: export WHERE=here -->
```yaml
steps:
  - uses: actions/checkout@v4
  - run: pip install './mauve_metric[texts]' --extra-index-url https://example.org/cpu
  - run: echo one
  - run: |
      echo "$WHERE" \\
        two
```

## In a command

`pip install ./mauve_metric`

<!-- run first: cp a b -->
```sh
cat b
```

## Elsewhere

<!-- not run: needs a GPU -->
```python
1 / 0
```

## Last

`pip install ./mauve_metric`

```python
assert texts == ["a"]
```
"""


@pytest.fixture(scope="module")
def recipes() -> object:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        return script("docs/run_recipes")
    finally:
        sys.path.remove(str(ROOT / "docs"))


def test_recipes_are_read_from_the_page(recipes: object) -> None:
    first, shell, command, elsewhere, last = recipes.recipes_of(PAGE)  # type: ignore[attr-defined]
    assert (first.title, first.packages, first.language) == ("First", ("./mauve_metric", "pandas"), "python")
    assert (shell.packages, shell.language) == (("./mauve_metric[texts]",), "sh")
    assert shell.program.split("\n")[:2] == ["export WHERE=here", "echo one"] and "pip" not in shell.program
    assert (command.language, command.program) == ("sh", "cp a b\ncat b\n")
    assert (elsewhere.packages, elsewhere.program) == ((), "")
    assert last.packages == ("./mauve_metric",)
    for recipe in (first, last):  # each alone: the texts are there
        exec(recipe.program, {})


def test_a_recipe_that_fails_says_so(recipes: object, tmp_path: Path) -> None:
    environment = Path(sys.prefix)
    fails = recipes.Recipe("x", (), "python", "raise SystemExit('no such model')")  # type: ignore[attr-defined]
    works = recipes.Recipe("x", (), "sh", "test -d examples")  # type: ignore[attr-defined]
    assert "no such model" in recipes.run_recipe(fails, environment, tmp_path / "a")  # type: ignore[attr-defined]
    assert recipes.run_recipe(works, environment, tmp_path / "b") is None  # type: ignore[attr-defined]


def test_every_recipe_of_the_page_installs_the_package_or_runs_nothing(recipes: object) -> None:
    page = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    found = list(recipes.recipes_of(page))  # type: ignore[attr-defined]
    assert {recipe.title for recipe in found if recipe.program} >= {"pandas", "CI", "pytest", "sentence-transformers"}
    for recipe in found:
        assert not recipe.program or any(name.startswith("./mauve_metric") for name in recipe.packages), recipe.title


def test_an_environment_has_the_packages_of_its_base(recipes: object, tmp_path: Path) -> None:
    venv.create(base := tmp_path / "base")
    site = next(base.glob("lib/python*/site-packages"))
    (site / "installed_below.py").write_text("number = 7\n")
    made = recipes.make_environment(tmp_path / "made", [], base)  # type: ignore[attr-defined]
    said = [made / "bin" / "python", "-c", "import installed_below; print(installed_below.number)"]
    assert subprocess.run(said, capture_output=True, text=True, check=True).stdout == "7\n"


def test_recipes_run_on_the_installation_that_they_name(
    recipes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "recipes.md").write_text(PAGE)
    made: dict[str, tuple[list[str], Path]] = {}

    def environment(folder: Path, packages: list[str], base: Path) -> Path:
        made[folder.parent.name] = (packages, base)
        (folder / "bin").mkdir(parents=True)
        return folder

    monkeypatch.setattr(recipes, "PAGE", tmp_path / "recipes.md")
    monkeypatch.setattr(recipes, "make_environment", environment)
    monkeypatch.setattr(recipes, "run_recipe", lambda recipe, *_: "no file b" if recipe.language == "sh" else None)
    assert recipes.main("base", "./mauve_metric") == 1
    said = capsys.readouterr().out.split("\n")
    assert said[:2] == ["First (./mauve_metric pandas): ran", "In a command (./mauve_metric): FAILEDno file b"]
    assert said[2:4] == ["Elsewhere: not run, no code to run here", "Last (./mauve_metric): ran"]
    assert said[4] == "3 recipes ran, 1 failed"
    assert made == {f"recipe{n}": (more, Path("base")) for n, more in enumerate((["pandas"], [], []))}
    made.clear()
    assert recipes.main("texts", "./mauve_metric[texts]") == 1
    assert made == {"recipe0": ([], Path("texts"))}
    assert recipes.main("base", "./other") == 1  # nothing ran
