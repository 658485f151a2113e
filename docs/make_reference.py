"""Writes the tables of options into docs/reference.md: python docs/make_reference.py"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field
from pathlib import Path
from typing import Any

from mauve_metric.options import config_fields, run_fields

PAGE = Path(__file__).parent / "reference.md"
STAGES = {
    "featurize": "From texts to features",
    "quantize": "From features to buckets",
    "score": "From buckets to scores",
}


def page(text: str) -> str:
    """The page with the tables between its marks written anew."""
    return filled(text, {"options": _options(), "speed": _table(run_fields())})


def filled(text: str, tables: Mapping[str, str]) -> str:
    """A page with the tables between marks written anew.

    Raises:
        ValueError: a mark is missing, or occurs twice.
    """
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        if text.count(begin) != 1 or text.count(end) != 1:
            raise ValueError(f"the marks {begin} and {end} must occur once in the page")
        before, rest = text.split(begin)
        text = f"{before}{begin}\n\n{table}\n{end}{rest.split(end)[1]}"
    return text


def _options() -> str:
    """The options that can change a score, a table a stage."""
    found = config_fields()
    staged = {
        stage: {name: item for name, item in found.items() if item.metadata["stage"] == stage} for stage in STAGES
    }
    if sum(map(len, staged.values())) != len(found):
        raise ValueError(f"STAGES must hold every stage, got {', '.join(STAGES)}")
    return "\n".join(f"**{STAGES[stage]}**\n\n{_table(items)}" for stage, items in staged.items())


def _table(items: Mapping[str, Field[Any]]) -> str:
    rows = [f"| `{name}` | `{item.default!r}` | {_cell(item.metadata['help'])} |" for name, item in items.items()]
    return "\n".join(["| option | default | what it is |", "|---|---|---|", *rows]) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
