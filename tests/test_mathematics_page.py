"""The page of formulas: what the cards link to, and formulas that the site can show."""

from __future__ import annotations

import re

import pytest
from samples import ROOT

PAGE = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")


def anchors() -> set[str]:
    heads = re.findall(r"^#+ (.+)$", PAGE, flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


def formulas() -> list[str]:
    """Those between $$ and $$, then those between $ and $, outside of code."""
    prose = re.sub(r"```.*?```|`[^`]*`", "", PAGE, flags=re.DOTALL)
    inside = re.sub(r"\$\$.*?\$\$", "", prose, flags=re.DOTALL)
    return re.findall(r"\$\$(.*?)\$\$", prose, flags=re.DOTALL) + re.findall(r"\$([^$]+)\$", inside)


def test_links_of_the_cards_and_of_the_page_lead_to_a_part() -> None:
    cards = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"mathematics\.md#([\w-]+)", cards)) | set(re.findall(r"\]\(#([\w-]+)\)", PAGE))
    assert len(linked) > 15
    assert linked - anchors() == set()


def test_every_formula_becomes_mathml() -> None:
    converter = pytest.importorskip("latex2mathml.converter", reason="the documentation's tools are not installed")
    found = formulas()
    assert len(found) > 150
    for formula in found:
        assert re.search(r"\\[a-zA-Z]", converter.convert(formula.strip())) is None, formula
