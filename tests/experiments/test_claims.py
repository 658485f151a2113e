"""Every sentence of the overview of experiments follows from the numbers, and every experiment has one."""

from __future__ import annotations

import sys

import pytest
from samples import ROOT

sys.path.append(str(ROOT / "experiments"))

import claims


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: f"{claim.page}: {claim.ours}")
def test_a_sentence_follows_from_its_table(claim: claims.Claim) -> None:
    assert claim.holds(claims.Rows(claim.page))


def test_every_page_of_results_is_in_the_overview() -> None:
    assert {claim.page for claim in claims.CLAIMS} == {path.stem for path in claims.RESULTS.glob("*.md")}
    assert claims.overview() in (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8")


def test_a_row_that_is_gone_is_named() -> None:
    with pytest.raises(ValueError, match="no row has"):
        claims.Rows("decoders").value("mauve", decoder="nowhere")
