"""The sentences of docs/people.md that a person wrote, against the results: none may outlive its numbers."""

from __future__ import annotations

import csv
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "experiments" / "results"
SCORES = ("precision", "closeness", "mauve", "mauve_debiased", "mauve_classifier", "recall")


def rows_of(name: str) -> list[dict[str, str]]:
    with (RESULTS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_precision_is_first_in_most_rows_and_never_significantly_behind() -> None:
    rows = rows_of("people.csv")
    first = [row for row in rows if max(SCORES, key=lambda score: float(row[score])) == "precision"]
    assert len(first) > len(rows) / 2
    assert all(float(row[f"precision_minus_{score}_high"]) >= 0 for row in rows for score in ("mauve", "closeness"))


def test_closeness_is_nowhere_significantly_better_than_mauve() -> None:
    assert all(float(row["closeness_minus_mauve_low"]) <= 0 for row in rows_of("people.csv"))


def test_lexical_measures_mostly_do_not_follow_people() -> None:
    rows = rows_of("people_words.csv")
    measures = [name for name in list(rows[0])[4:] if not name.endswith(("_low", "_high"))]
    values = [float(row[name]) for row in rows for name in measures]
    assert sum(value < 0 for value in values) > len(values) / 2
