"""Docstrings as the site shows them, and what each that it shows must have.

The docstrings are Google's, with two habits of their own: a line may name several arguments ("p, q: the sides"), and
examples are doctests without a heading. Those become code here; and what is missing is a warning, which ends the build.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from griffe import Alias, Class, Extension, Function, GriffeLoader, Module, Object

PAGES = Path(__file__).resolve().parent.parent / "api"
SHOWN = re.compile(r"^::: mauve_metric\.(\S+)$", re.MULTILINE)
DOCTEST = re.compile(r"^( *)>>> .*\n?(?:^(?! *$).*\n?)*", re.MULTILINE)
SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):\n((?:^(?:  .*)?\n)+)", re.MULTILINE)
log = logging.getLogger("mkdocs.hooks.docstrings")


class Docstrings(Extension):
    """The griffe extension for the docstrings of the package."""

    def on_package(self, *, pkg: Module, loader: GriffeLoader, **_: Any) -> None:
        """Look at everything that the pages of the API show."""
        for name in shown():
            for complaint in missing(pkg[name]):
                log.warning("mauve_metric.%s: its docstring %s", name, complaint)

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Make code of the examples."""
        if obj.docstring is not None:
            obj.docstring.value = with_fences(obj.docstring.value)


def shown() -> list[str]:
    """The names, without the package's, on the pages of the API."""
    return [name for page in sorted(PAGES.glob("*.md")) for name in SHOWN.findall(page.read_text(encoding="utf-8"))]


def with_fences(docstring: str) -> str:
    """A docstring whose doctests are code blocks."""
    return DOCTEST.sub(lambda found: f"{found[1]}```pycon\n{found[0].rstrip()}\n{found[1]}```\n", docstring)


def missing(found: Object | Alias) -> Iterator[str]:
    """The parts that a docstring lacks."""
    thing = found.final_target if isinstance(found, Alias) else found
    if thing.docstring is None or not thing.docstring.value.strip():
        yield "is missing"
        return
    sections = dict(SECTION.findall(thing.docstring.value + "\n"))
    if isinstance(thing, Function):
        given = {parameter.name for parameter in thing.parameters} - {"self", "cls"}
        yield from _arguments(sections, given)
        if str(thing.returns) != "None" and not sections.keys() & {"Returns", "Yields"}:
            yield 'has no section "Returns"'
        if "Raises" not in sections:
            yield 'has no section "Raises"'
    elif isinstance(thing, Class) and not sections:
        yield 'has none of the sections "Args", "Attributes", "Raises"'


def _arguments(sections: dict[str, str], given: set[str]) -> Iterator[str]:
    """Arguments that are not described, or described and not there."""
    if given and "Args" not in sections:
        yield 'has no section "Args"'
        return
    text = sections.get("Args", "")
    items = re.split(r"^ {4}(?! )", text, flags=re.MULTILINE)
    named = {name.strip(" *\n") for item in items[1:] for name in item.split(":")[0].split(",")}
    for name in sorted(given):
        if name not in named and not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            yield f"does not describe {name}"
    for name in sorted(named - given):
        if not any(argument.startswith("option") for argument in given):
            yield f"describes {name}, which is no argument"
