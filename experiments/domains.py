"""Human prose of several domains that every installation of this package has: no download, nothing kept here.

The speeches are those of the examples; the others are the docstrings of Python and of the packages that
`mauve_metric` needs, and the licences of all installed packages.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from common import example_texts

LEAST_WORDS, MOST_WORDS = 25, 60
SKIPPED = {"test", "tests", "site-packages", "dist-packages", "idlelib", "lib2to3", "ensurepip"}
_SENTENCE = re.compile(r"[A-Z][^`<>{}=|\\\[\]]*[.:]")  # prose: no markup and no code


def passages(documents: Iterable[str]) -> list[str]:
    """Prose from documents: paragraphs without code or markup, cut after `MOST_WORDS`, each once.

    A paragraph of fewer than `LEAST_WORDS` is left out.
    """
    found: dict[str, None] = {}
    for document in documents:
        for paragraph in re.split(r"\n\s*\n", document):
            words = paragraph.split()
            if len(words) >= LEAST_WORDS and "--" not in paragraph and _SENTENCE.fullmatch(" ".join(words)):
                found[" ".join(words[:MOST_WORDS])] = None
    return list(found)


def docstrings(folder: Path) -> Iterator[str]:
    """The docstrings of all modules, classes and functions in a folder, by the names of the files."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted(folder.rglob("*.py")):
        if SKIPPED & set(path.relative_to(folder).parts):
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, UnicodeDecodeError):  # templates and files for other versions
            continue
        for node in ast.walk(tree):
            if isinstance(node, documented) and (text := ast.get_docstring(node)):
                yield text


def package_texts(package: str) -> list[str]:
    """Prose of a package's docstrings."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"the package {package!r} is not installed")
    return passages(docstrings(Path(spec.submodule_search_locations[0])))


def licence_files() -> list[str]:
    """The licences of all installed packages."""
    files = [
        Path(str(file.locate()))
        for distribution in sorted(importlib.metadata.distributions(), key=lambda item: item.name.lower())
        for file in distribution.files or ()
        if re.search(r"licen[cs]e|copying|notice", file.name, flags=re.IGNORECASE) and not file.name.endswith(".py")
    ]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files if file.is_file()]


# The topics of the human texts, and topics that only a model writes about.
OWN: dict[str, Callable[[], list[str]]] = {
    "speeches": lambda: example_texts("human") + example_texts("human_other"),
    "Python": lambda: passages(docstrings(Path(sysconfig.get_paths()["stdlib"]))),
    "licences": lambda: passages(licence_files()),
}
FOREIGN: dict[str, Callable[[], list[str]]] = {
    "SciPy's statistics": lambda: package_texts("scipy.stats"),
    "NumPy": lambda: package_texts("numpy"),
    "Transformers' generation": lambda: package_texts("transformers.generation"),
}
