"""Results, comparisons and explanations as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mauve_metric.results.digits import digits
from mauve_metric.results.joint_verdict import featurizer_columns, featurizer_rows, joint_verdict, own_warnings
from mauve_metric.results.names import printable
from mauve_metric.results.numbers import ComparisonNumbers, ResultNumbers
from mauve_metric.results.scores import SCORES
from mauve_metric.results.table_forms import (
    Column,
    TableRow,
    csv_table,
    latex_table,
    markdown_table,
    markdown_text,
    plain_table,
)
from mauve_metric.results.verdict import verdict
from mauve_metric.results.words import (
    DIFFERENCE_NOTE,
    collected_warnings,
    comparison_lead,
    conclusion,
    facts,
    forecast_sentence,
    lead,
    notes,
    ranking_verdict,
    with_labels,
    wrapped,
)

if TYPE_CHECKING:
    from mauve_metric.uncertainty.score_warnings import ScoreWarning


MODEL_COLUMNS = (
    Column("rank", "rank", "d"),
    Column("model", "model"),
    Column("mauve_debiased", "debiased", ".4f"),
    Column("low", "low", ".4f"),
    Column("high", "high", ".4f"),
    Column("mauve", "MAUVE", ".4f"),
    Column("mauve_own", "MAUVE own", ".4f"),
    Column("precision", "precision", ".3f"),
    Column("recall", "recall", ".3f"),
    Column("frontier_integral", "frontier int.", ".4f"),
    Column("n", "texts", "d"),
)
TEST_COLUMN = Column("p_value", "p", ".2g")
DIFFERENCE_COLUMNS = (
    Column("a", "model"),
    Column("b", "against"),
    Column("difference", "difference", "+.4f"),
    Column("low", "low", "+.4f"),
    Column("high", "high", "+.4f"),
    Column("p_value", "p", ".2g"),
    Column("real", "real"),
)


def model_columns(comparison: ComparisonNumbers) -> tuple[Column, ...]:
    """`MODEL_COLUMNS`, and the p-values where there was a test."""
    tested = any(result.p_value is not None for result in comparison.models.values())
    return (*MODEL_COLUMNS, TEST_COLUMN) if tested else MODEL_COLUMNS


def model_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """One row a model, the best first, by the keys of `MODEL_COLUMNS`; equal models have the same rank."""
    comparison = with_labels(comparison)
    equal = {(item.a, item.b) for item in comparison.differences if item.difference == 0}
    rows, rank = [], 1
    for place, name in enumerate(comparison.ranking):
        rank = rank if place and (comparison.ranking[place - 1], name) in equal else place + 1
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        row: TableRow = {"rank": rank, "model": name, "low": low, "high": high, "n": result.n_q}
        for key in ("mauve", "mauve_debiased", "precision", "recall", "frontier_integral", "p_value"):
            row[key] = getattr(result, key)
        rows.append(row | {"mauve_own": comparison.own[name].mauve})
    return rows


def difference_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """One row a pair, by the keys of `DIFFERENCE_COLUMNS`."""
    rows = []
    for item in with_labels(comparison).differences:
        low, high = item.ci
        values: TableRow = {"a": item.a, "b": item.b, "difference": item.difference, "low": low, "high": high}
        rows.append(values | {"p_value": item.p_value, "real": "yes" if item.real else "no"})
    return rows


def score_report(result: ResultNumbers, title: str) -> str:
    """The result for people: what it says, warnings, the scores, what they rest on, and the signature."""
    first = lead(result)
    lines = [printable(title), ""]
    for text in (f"{first.sentence}.", verdict(result), joint_verdict(result.by_featurizer), first.beside):
        lines += wrapped(text, "  ", "  ")
    lines += ["", *(line for found in result.warnings for line in _warning_lines("", found))]
    lines += [""] if result.warnings else []
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            shown = f"{digits(value):>7}  {_ci(result, name):<17}"
            lines.append(f"  {score.title:<24} {shown}  {score.better}; {score.meaning}")
    lines.append("")
    lines += [f"  {name:<24} {value:<17}  {meaning}".rstrip() for name, value, meaning in facts(result)]
    lines += _featurizer_lines(result)
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _featurizer_lines(result: ResultNumbers) -> list[str]:
    """What each of several featurizers says, and the warnings and signatures of those after the first."""
    each = result.by_featurizer
    if len(each) < 2:
        return []
    lines = ["", *plain_table(featurizer_columns(each), featurizer_rows(each)), ""]
    lines += [line for who, warning in own_warnings(each) for line in _warning_lines(who, warning)]
    _, *others = each.items()
    return [*lines, "", *(f"signature of {printable(name)}: {one.signature}" for name, one in others)]


def _ci(result: ResultNumbers, name: str) -> str:
    interval = {
        "mauve_debiased": result.mauve_ci,
        "frontier_integral_debiased": result.frontier_integral_ci,
    }.get(name)
    return "" if interval is None else f"[{digits(interval[0])}, {digits(interval[1])}]"


def _warning_lines(who: str, warning: ScoreWarning) -> list[str]:
    """A warning for the terminal, and which models it is about."""
    message = f"{who}: {warning.message}" if who else warning.message
    return wrapped(f"! {printable(message)}  [{warning.code}]", "  ", "    ")


def comparison_table(comparison: ComparisonNumbers) -> str:
    """The comparison for the terminal: warnings, models, differences, what they rest on, signature."""
    results = list(comparison.models.values())
    level, common = f"{100 * comparison.confidence_level:g} %", results[0]
    models = f"{len(results)} model{'' if len(results) == 1 else 's'}"
    lines = [f"{models} against {common.n_p} human texts, {common.num_buckets} common buckets", ""]
    for text in (ranking_verdict(comparison), comparison_lead(comparison).beside):
        lines += wrapped(text, "  ", "  ")
    found = collected_warnings(comparison)
    lines += ["", *(line for who, warning in found for line in _warning_lines(who, warning))]
    lines += ["", *plain_table(model_columns(comparison), model_rows(comparison)), ""]
    for note in notes(comparison):
        lines += wrapped(note, "  ", "  ")
    lines += wrapped(f"Intervals: {level}, {common.ci_scope}.", "  ", "  ")
    if comparison.differences:
        lines += ["", *plain_table(DIFFERENCE_COLUMNS, difference_rows(comparison)), ""]
        lines += wrapped(DIFFERENCE_NOTE, "  ", "  ") if len(comparison.differences) > 1 else []
        lines += wrapped(forecast_sentence(comparison), "  ", "  ")
    return "\n".join([*lines, "", f"signature: {comparison.signature}"])


def comparison_markdown(comparison: ComparisonNumbers) -> str:
    """Both tables in Markdown, with the notes."""
    parts = [markdown_table(model_columns(comparison), model_rows(comparison)), "\n".join(notes(comparison))]
    if comparison.differences:
        parts.append(markdown_table(DIFFERENCE_COLUMNS, difference_rows(comparison)))
        parts.append(markdown_text(f"{conclusion(comparison)} {forecast_sentence(comparison)}"))
    return "\n\n".join([*parts, f"`{comparison.signature.replace('`', ' ')}`"]) + "\n"


def comparison_csv(comparison: ComparisonNumbers, table: str = "models") -> str:
    """One table as CSV, numbers in full; a missing value is an empty field, and no name is a formula."""
    tables = {"models": (model_columns(comparison), model_rows), "differences": (DIFFERENCE_COLUMNS, difference_rows)}
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    return csv_table(columns, rows(comparison))


def comparison_latex(comparison: ComparisonNumbers) -> str:
    """Both tables as LaTeX `tabular`s; they need the package booktabs."""
    parts = [latex_table(model_columns(comparison), model_rows(comparison))]
    if comparison.differences:
        parts.append(latex_table(DIFFERENCE_COLUMNS, difference_rows(comparison)))
    return "\n\n".join([*parts, f"% {comparison.signature}"]) + "\n"
