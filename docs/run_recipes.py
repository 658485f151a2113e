"""Run recipes of docs/recipes.md: `python docs/run_recipes.py ENVIRONMENT ./mauve_metric`.

A recipe names what it needs by `pip install …`. Those that install the package that is named, `./mauve_metric` or
`./mauve_metric[texts]`, are run on top of ENVIRONMENT, which has that and nothing else: away from the checkout, each in
a new environment that holds what else it installs. A recipe with no such line, or whose blocks are all marked "not
run", is named and left out. The exit status is 1 if one fails.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from run_blocks import ROOT, RUN, fenced_blocks

PAGE = ROOT / "docs" / "recipes.md"
OURS = ("./mauve_metric", "./mauve_metric[texts]")
INSTALL = re.compile(r"\bpip install ([^`\n]+)")
STEP = re.compile(r"^ *- run: (?:\|\n((?:(?: {4,}.*)?\n)+)|(.+))", re.MULTILINE)


@dataclass(frozen=True)
class Recipe:
    """A section of the page: its title, what it installs, its language, and the program that its blocks make."""

    title: str
    packages: tuple[str, ...]
    language: str
    program: str


def recipes_of(markdown: str) -> Iterator[Recipe]:
    """The recipes of a page; those without anything to install or to run have no packages or no program.

    What runs before the first block of the page runs before every recipe in Python.
    """
    before = ""
    for section in re.split(r"^## ", markdown, flags=re.MULTILINE)[1:]:
        title = section.partition("\n")[0]
        install = INSTALL.search(section)
        # an index of other builds of torch is no package
        words = re.sub(r"--extra-index-url \S+", "", install[1]).replace("'", "").split() if install else []
        blocks = [(kind, code, above) for _, kind, code, above in fenced_blocks(section) if "not run" not in above]
        language, programs = "python", []
        for kind, code, above in blocks:
            first = above.get("run first", "")
            if kind == "yaml":
                steps = [match[1] or match[2] for match in STEP.finditer(code)]
                code = "\n".join(step for step in steps if not step.startswith("pip install"))
            elif kind not in RUN:
                continue
            language = "python" if kind == "python" else "sh"
            before = before or first
            programs += [first, code]
        if language == "python" and programs and programs[0] != before:
            programs.insert(0, before)
        yield Recipe(title, tuple(words), language, "\n".join(programs))


def make_environment(folder: Path, packages: list[str], base: Path) -> Path:
    """Make an environment with packages, on top of what `base` has; return its folder.

    It has no pip of its own, which takes seconds to install, and modules are compiled when they are imported.
    """
    venv.create(folder)
    site = next(base.glob("lib/python*/site-packages"))
    next(folder.glob("lib/python*/site-packages")).joinpath("base.pth").write_text(f"{site}\n", encoding="utf-8")
    if packages:
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
        subprocess.run([*pip, "install", "-q", "--no-compile", *packages], check=True)
    return folder


def run_recipe(recipe: Recipe, environment: Path, folder: Path) -> str | None:
    """Run a recipe in a folder that has the examples; None, or what it said when it failed."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    settings |= {
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
        "MAUVE_METRIC_CACHE": str(folder / "cache"),
    }
    command = ["python", "-c"] if recipe.language == "python" else ["bash", "-euc"]
    done = subprocess.run([*command, recipe.program], cwd=folder, env=settings, capture_output=True, text=True)
    return None if done.returncode == 0 else f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


def install_and_run(recipe: Recipe, base: Path, folder: Path) -> str | None:
    """Run a recipe in a new environment on top of `base`; None, or what it said when it failed."""
    packages = [name for name in recipe.packages if name not in OURS]
    bin_folder = make_environment(folder / "environment", packages, base) / "bin"
    program = bin_folder / "mauve-metric"
    program.write_text(f'#!/bin/sh\nexec "{bin_folder}/python" -m mauve_metric "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    failure = run_recipe(recipe, bin_folder.parent, folder)
    shutil.rmtree(folder)
    return failure


def main(base: str, package: str) -> int:
    """Run the recipes that install a package; 1 if one fails."""
    ran = failed = 0
    with tempfile.TemporaryDirectory() as work:
        for recipe in recipes_of(PAGE.read_text(encoding="utf-8")):
            ours = [name for name in recipe.packages if name in OURS]
            if not ours or not recipe.program:
                reason = "installs nothing" if recipe.program else "no code to run here"
                print(f"{recipe.title}: not run, {reason}", flush=True)
            elif ours == [package]:
                failure = install_and_run(recipe, Path(base), Path(work, f"recipe{ran}"))
                ran += 1
                failed += failure is not None
                installed = " ".join(recipe.packages)
                print(f"{recipe.title} ({installed}): {'ran' if failure is None else f'FAILED{failure}'}", flush=True)
    print(f"{ran} recipes ran, {failed} failed", flush=True)
    return int(failed > 0 or not ran)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
