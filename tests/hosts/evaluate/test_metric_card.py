"""The metric's card for the Hub: that of the code, and what the Hub reads of it."""

from __future__ import annotations

from samples import PACKAGE, script

from mauve_metric.options import config_fields
from mauve_metric.results.scores import SCORES

CARD = (PACKAGE / "README.md").read_text(encoding="utf-8")


def test_the_card_is_that_of_the_code() -> None:
    assert script("docs/make_card").card() == CARD, "run: python docs/make_card.py"


def test_the_card_has_the_expected_sections() -> None:
    assert CARD.startswith("---\ntitle: MAUVE\n") and CARD.count("\n---\n") == 1
    for name, score in SCORES.items():
        (row,) = (line for line in CARD.split("\n") if line.startswith(f"| `{name}` | {score.better} |"))
        assert row.count("|") == 6
    assert all(f"| `{name}` | `" in CARD for name in config_fields())
    assert "| `row_order` | `'pq'` |" in CARD  # the view's default, not that of compute_mauve
    assert "| GPT-2 xl | nucleus 0.95 | 0.9396 |" in CARD and "@inproceedings{pillutla2021mauve" in CARD
