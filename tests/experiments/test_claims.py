"""Every sentence of the overview of experiments follows from the numbers, and every experiment has one."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest
from samples import ROOT

sys.path.append(str(ROOT / "experiments"))

import claims
from common import BY_HAND

_INTERVAL = re.compile(
    r"(-?\d*\.?\d+)(?: \(|, )(-?\d*\.?\d+) to (-?\d*\.?\d+)[);]"
)  # .57 (.50 to .64), (.57, .50 to .64)


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: f"{claim.page}: {claim.ours}")
def test_a_sentence_follows_from_its_table(claim: claims.Claim) -> None:
    assert claim.holds(claims.Rows(claim.page))


def test_every_page_of_results_is_in_the_overview() -> None:
    assert {claim.page for claim in claims.CLAIMS} == {path.stem for path in claims.RESULTS.glob("*.md")}
    assert claims.overview() in (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")


def test_a_row_that_is_gone_is_named() -> None:
    with pytest.raises(ValueError, match="no row has"):
        claims.Rows("decoders").value("mauve", decoder="nowhere")


def is_rounded(value: str, shown: str) -> bool:
    """Whether a number in words is one of the table; half a unit of its last place."""
    return abs(float(value) - float(shown)) <= 0.5 * 10 ** -len(shown.partition(".")[2]) + 1e-9


@pytest.mark.parametrize("page", sorted(claims.RESULTS.glob("*.md")), ids=lambda page: page.stem)
def test_every_interval_in_the_words_of_a_page_is_in_its_table(page: Path) -> None:
    with page.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    cells = [
        (row[key], row[f"{key}_low"], row[f"{key}_high"])
        for row in rows
        for key in row
        if row.get(f"{key}_low") and row[key]
    ]
    words = " ".join(page.read_text(encoding="utf-8").partition(BY_HAND)[2].split())
    for found in _INTERVAL.finditer(words):
        assert any(all(map(is_rounded, cell, found.groups())) for cell in cells), f"{found[0]} is not in the table"
