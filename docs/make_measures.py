"""Writes docs/measures.md from the tables of scores and measures: python docs/make_measures.py"""

from __future__ import annotations

from pathlib import Path

from mauve_metric.results.companions.row import Companion
from mauve_metric.results.companions.table import COMPANIONS

GROUPS = {
    "lexical": "Texts of one set, by their tokens: words and punctuation marks, or the ids of `--tokenizer`.",
    "distance": "Features of both sets, or of one.",
    "buckets": "The histograms that MAUVE is computed from, on the buckets common to all models.",
    "estimators": "MAUVE of the projected features without buckets. There is no interval, ceiling or p-value of these; "
    "[which to use when](../benchmarks/results/estimators.md).",
    "language-model": "What a causal language model (`--language-model`) says of the texts; one cached pass for all.",
    "discriminator": "How well a classifier tells unseen texts apart; copies and texts of one prompt share a fold.",
    "duplication": "Copies within a set and of the human texts. A model that copies its references scores MAUVE 1.",
}
HEAD = """# Measures

`mauve-metric describe HUMAN MODEL [MODEL …]` and `mauve_metric.describe(human, {name: texts})` put MAUVE and its
company into one table: each measure of a model beside its value for the human texts, with the difference and an
interval where an honest one can be had. `--measures` takes groups, names, or `all`; those marked ● are computed
without being asked for. In the table, \\* says that a model differs from the human texts by more than chance, ◂ that a
value is the best and apart from all others by its interval.

**better**: *human* means the nearer to the human texts' value the better. **interval**: of a mean over texts it is
Welch's, which is what a bootstrap over texts comes to (with `prompts_of`, texts of one prompt count as one draw); other
measures bring their own, or have none, since resampling a biased number would put the interval beside it. **size**:
what moves with the number of texts is computed on as many texts of each set, drawn by the seed.

This page is written by `docs/make_measures.py` from the tables in the code.
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    for group, about in GROUPS.items():
        rows = {name: row for name, row in COMPANIONS.items() if row.group == group}
        parts.append(f"## {group}\n\n{about}\n\n{_table(rows)}")
    return "\n".join(parts)


def _table(rows: dict[str, Companion]) -> str:
    lines = ["| measure | | better | range | size | what it is | paper |", "|---|---|---|---|---|---|---|"]
    for name, row in rows.items():
        ends = " … ".join("∞" if end is None else f"{end:g}" for end in (row.low, row.high)).replace("∞ …", "-∞ …")
        size = "moves" if row.sizes_matter else ""
        cells = (f"`{name}`", "●" if row.cheap else "", row.better, ends, size, row.meaning, row.paper)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parent / "measures.md").write_text(page(), encoding="utf-8")
