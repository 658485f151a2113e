"""A stress test as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from mauve_metric.results.digits import digits, percent
from mauve_metric.results.names import printable, shown_names
from mauve_metric.results.stress_test_numbers import FeaturizerStress, StressedScore, StressTestNumbers
from mauve_metric.results.table_forms import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
)
from mauve_metric.results.wording.words import wrapped

CSV_COLUMNS = (
    Column("featurizer", "featurizer"),
    Column("perturbation", "error"),
    Column("strength", "strength", "g"),
    Column("mauve_debiased", "debiased", ".3f"),
    Column("low", "low", ".3f"),
    Column("high", "high", ".3f"),
    Column("p_value", "p", ".2g"),
    Column("seen", "seen"),
    Column("changed", "changed", ".3f"),
)
_ERROR = Column("perturbation", "error")
_SEEN_FROM = Column("smallest_seen", "seen from", "g")


def columns_of(stress: StressTestNumbers) -> list[Column]:
    """The columns of one featurizer's table: the errors, the strengths, the smallest that is seen."""
    strengths = [Column(f"{strength:g}", f"{strength:g}") for strength in stress.strengths]
    return [_ERROR, *strengths, _SEEN_FROM, Column("changed", "texts changed")]


def rows_of(found: FeaturizerStress) -> list[TableRow]:
    """One row an error: debiased score and interval at each strength."""
    rows: list[TableRow] = []
    for name, scores in found.perturbations.items():
        row: TableRow = {"perturbation": name, "smallest_seen": found.smallest_seen(name)}
        row |= {f"{score.strength:g}": score_text(score) for score in scores}
        rows.append(row | {"changed": percent(scores[-1].changed, 1.0)})
    return rows


def score_text(score: StressedScore) -> str:
    """A debiased score with its interval, after = where it is not told apart from equal."""
    text = f"{'' if score.seen else '= '}{digits(score.mauve_debiased, '.3f')}"
    return text if score.ci is None else f"{text} ({digits(score.ci[0], '.2f')} to {digits(score.ci[1], '.2f')})"


def summary_rows(stress: StressTestNumbers) -> list[TableRow]:
    """One row an error, and for each featurizer the smallest strength that it sees."""
    return [
        {"perturbation": name} | {key: found.smallest_seen(name) for key, found in stress.featurizers.items()}
        for name in stress.perturbations
    ]


def _summary_columns(stress: StressTestNumbers) -> list[Column]:
    labels = shown_names(list(stress.featurizers))
    return [_ERROR, *(Column(name, labels[name], "g") for name in stress.featurizers)]


def _notes(stress: StressTestNumbers) -> list[str]:
    level = f"{100 * stress.confidence_level:g} %"
    notes = [
        f"Debiased MAUVE of {stress.n_perturbed} human texts with an error of each strength against "
        f"{stress.n_reference} others, with {level} intervals. =: not told apart from no error (permutation tests at "
        f"{level} on buckets of their own, Holm's correction over all errors and strengths); seen from: the smallest "
        "strength that is, or –."
    ]
    labels = shown_names(list(stress.featurizers))
    for name, found in stress.featurizers.items():
        notes.append(f"{labels[name]}, no error at all: {score_text(found.equal)}.")
        unseen = ", ".join(found.unseen)
        every = f"{labels[name]} tells the strongest form of each of these errors apart at this size."
        notes.append(f"{labels[name]} does not see, at this size: {unseen}." if unseen else every)
    notes += [f"Left out: {name}, since {reason}." for name, reason in stress.left_out.items()]
    notes += [f"No scores of {printable(name)}: {printable(reason)}." for name, reason in stress.failed.items()]
    return [*notes, *(f"{warning.message} [{warning.code}]." for warning in stress.warnings)]


def stress_table(stress: StressTestNumbers) -> str:
    """The tables for the terminal."""
    lines: list[str] = []
    for name, found in stress.featurizers.items():
        lines += [printable(name), "", *plain_table(columns_of(stress), rows_of(found)), ""]
    if len(stress.featurizers) > 1:
        lines += ["smallest strength seen", "", *plain_table(_summary_columns(stress), summary_rows(stress)), ""]
    for note in _notes(stress):
        lines += wrapped(note, "  ", "  ")
    return "\n".join([*lines, "", *(f"signature: {found.signature}" for found in stress.featurizers.values())])


def stress_markdown(stress: StressTestNumbers) -> str:
    """The tables in Markdown, with the notes."""
    parts: list[str] = []
    for name, found in stress.featurizers.items():
        parts += [f"**{markdown_text(name)}**", markdown_table(columns_of(stress), rows_of(found))]
    if len(stress.featurizers) > 1:
        parts += ["**smallest strength seen**", markdown_table(_summary_columns(stress), summary_rows(stress))]
    parts.append("\n".join(map(markdown_text, _notes(stress))))
    parts += [f"`{found.signature.replace('`', ' ')}`" for found in stress.featurizers.values()]
    return "\n\n".join(parts) + "\n"


def stress_csv(stress: StressTestNumbers) -> str:
    """One line a featurizer, error and strength; the first of each featurizer is of no error."""
    rows: list[TableRow] = []
    for name, found in stress.featurizers.items():
        for error, scores in {"equal": (found.equal,), **found.perturbations}.items():
            for score in scores:
                low, high = score.ci or (None, None)
                row: TableRow = {"featurizer": name, "perturbation": error, "low": low, "high": high}
                row |= {column.key: getattr(score, column.key) for column in CSV_COLUMNS if column.key not in row}
                rows.append(row)
    return csv_table(CSV_COLUMNS, rows)


def stress_latex(stress: StressTestNumbers) -> str:
    """The tables as LaTeX `tabular`s; they need the package booktabs."""
    parts: list[str] = []
    for name, found in stress.featurizers.items():
        parts += [f"% {printable(name)}", latex_table(columns_of(stress), rows_of(found))]
    if len(stress.featurizers) > 1:
        parts += ["% smallest strength seen", latex_table(_summary_columns(stress), summary_rows(stress))]
    return "\n\n".join([*parts, *(f"% {found.signature}" for found in stress.featurizers.values())]) + "\n"
