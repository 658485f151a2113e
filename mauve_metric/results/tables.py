"""Results, comparisons and explanations as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mauve_metric.results.names import printable, spreadsheet_text
from mauve_metric.results.numbers import ComparisonNumbers, ResultNumbers
from mauve_metric.results.scores import SCORES
from mauve_metric.results.signature import signature_number
from mauve_metric.results.words import (
    NOTES,
    cell,
    collected_warnings,
    conclusion,
    forecast_sentence,
    with_labels,
    wrapped,
)

if TYPE_CHECKING:
    from tabulate import TableFormat


class Column(NamedTuple):
    """A column: key for programs, title for people, and the format of its numbers."""

    key: str
    title: str
    form: str = "s"


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
DIFFERENCE_COLUMNS = (
    Column("a", "better"),
    Column("b", "than"),
    Column("difference", "difference", "+.4f"),
    Column("low", "low", "+.4f"),
    Column("high", "high", "+.4f"),
    Column("p_value", "p", ".2g"),
    Column("real", "real"),
)
TableRow: TypeAlias = dict[str, str | int | float | None]


def model_rows(comparison: ComparisonNumbers) -> list[TableRow]:
    """One row a model, the best first, by the keys of `MODEL_COLUMNS`."""
    comparison = with_labels(comparison)
    rows = []
    for rank, name in enumerate(comparison.ranking, start=1):
        result = comparison.models[name]
        low, high = result.mauve_ci or (None, None)
        row: TableRow = {"rank": rank, "model": name, "low": low, "high": high, "n": result.n_q}
        for key in ("mauve", "mauve_debiased", "precision", "recall", "frontier_integral"):
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
    """The result for people: warnings first, then the scores, what they rest on, and the signature."""
    lines = [printable(title), ""]
    for warning in result.warnings:
        lines.append(f"  ! {printable(warning.message)}  [{warning.code}]")
    if result.warnings:
        lines.append("")
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            lines.append(f"  {score.title:<24} {value:7.4f}  {_ci(result, name):<17}  {score.better}; {score.meaning}")
    lines += [
        "",
        f"  {'floor … ceiling':<24} {result.mauve_floor:7.4f} … {result.mauve_ceiling:.4f}  MAUVE of sets with ",
    ]
    lines[-1] += "nothing in common … of two samples of one distribution"
    if result.mauve_std is not None:
        runs = f"{result.mauve_mean:7.4f} ± {result.mauve_std:.4f}"
        lines.append(
            f"  {'MAUVE over seeds':<24} {runs}  mean and standard deviation of {len(result.mauve_runs)} clusterings"
        )
    if result.p_value is not None:
        lines.append(f"  {'p-value':<24} {result.p_value:7.4f}  that both sets come from one distribution")
    lines.append(f"  {'texts':<24} {result.n_p} human, {result.n_q} model{_lengths(result)}")
    lines.append(f"  {'buckets':<24} {result.num_buckets}")
    if result.mauve_ci is not None:
        lines.append(f"  {'intervals':<24} {_level(result)} {result.ci_scope}")
    return "\n".join([*lines, "", f"signature: {result.signature}"])


def _ci(result: ResultNumbers, name: str) -> str:
    interval = {
        "mauve_debiased": result.mauve_ci,
        "frontier_integral_debiased": result.frontier_integral_ci,
    }.get(name)
    return "" if interval is None else f"[{interval[0]:.4f}, {interval[1]:.4f}]"


def _level(result: ResultNumbers) -> str:
    return f"{100 * signature_number(result.signature_entries, 'confidence_level'):g} %"


def _lengths(result: ResultNumbers) -> str:
    if result.p_median_length is None or result.q_median_length is None:
        return ""
    return f"; median length {result.p_median_length:.0f} and {result.q_median_length:.0f} tokens"


def comparison_table(comparison: ComparisonNumbers) -> str:
    """The comparison for the terminal: warnings, models, differences, what they rest on, signature."""
    results = list(comparison.models.values())
    level, common = f"{100 * comparison.confidence_level:g} %", results[0]
    lines = [f"{len(results)} models against {common.n_p} human texts, {common.num_buckets} common buckets", ""]
    for who, warning in collected_warnings(comparison):
        message = f"! {who}: {warning.message}" if who else f"! {warning.message}"
        lines += wrapped(f"{message}  [{warning.code}]", "  ", "    ")
    lines += ["", *_plain(MODEL_COLUMNS, model_rows(comparison)), ""]
    for note in NOTES:
        lines += wrapped(note, "  ", "  ")
    lines += wrapped(f"Intervals: {level}, {common.ci_scope}.", "  ", "  ")
    if comparison.differences:
        lines += ["", *_plain(DIFFERENCE_COLUMNS, difference_rows(comparison)), ""]
        lines += wrapped(conclusion(comparison), "  ", "  ")
        lines += wrapped(forecast_sentence(comparison), "  ", "  ")
    return "\n".join([*lines, "", f"signature: {comparison.signature}"])


def comparison_markdown(comparison: ComparisonNumbers) -> str:
    """Both tables in Markdown, with the notes."""
    parts = [_markdown(MODEL_COLUMNS, model_rows(comparison)), "\n".join(NOTES)]
    if comparison.differences:
        parts.append(_markdown(DIFFERENCE_COLUMNS, difference_rows(comparison)))
        parts.append(_markdown_text(f"{conclusion(comparison)} {forecast_sentence(comparison)}"))
    return "\n\n".join([*parts, f"`{comparison.signature.replace('`', ' ')}`"]) + "\n"


def comparison_csv(comparison: ComparisonNumbers, table: str = "models") -> str:
    """One table as CSV, numbers in full; a missing value is an empty field, and no name is a formula."""
    tables = {"models": (MODEL_COLUMNS, model_rows), "differences": (DIFFERENCE_COLUMNS, difference_rows)}
    if table not in tables:
        raise ValueError(f"table must be one of {', '.join(tables)}, got {table!r}")
    columns, rows = tables[table]
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.key for column in columns], lineterminator="\n")
    writer.writeheader()
    for row in rows(comparison):
        writer.writerow({k: spreadsheet_text(value) if isinstance(value, str) else value for k, value in row.items()})
    return out.getvalue()


def comparison_latex(comparison: ComparisonNumbers) -> str:
    """Both tables as LaTeX `tabular`s; they need the package booktabs."""
    parts = [_latex(MODEL_COLUMNS, model_rows(comparison))]
    if comparison.differences:
        parts.append(_latex(DIFFERENCE_COLUMNS, difference_rows(comparison)))
    return "\n\n".join([*parts, f"% {comparison.signature}"]) + "\n"


def _plain(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[str]:
    """Aligned columns: words to the left, numbers to the right."""
    from tabulate import tabulate

    sides = ["left" if column.form == "s" else "right" for column in columns]
    lines = [[column.title for column in columns], *_cells(columns, rows)]
    table = tabulate(lines, tablefmt="plain", colalign=sides, disable_numparse=True)
    return [f"  {line}".rstrip() for line in table.split("\n")]


def _markdown(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    from tabulate import DataRow, TableFormat

    rule = "|".join("---" if column.form == "s" else "---:" for column in columns)
    row = DataRow("| ", " | ", " |")
    form = TableFormat(None, lambda widths, sides: f"|{rule}|", None, None, row, row, 0, None)
    cells = [[_markdown_text(text) for text in texts] for texts in _cells(columns, rows)]
    return _unpadded([column.title for column in columns], cells, form)


def _markdown_text(text: str) -> str:
    """Text without a mark that Markdown, its tables, links, formulas or HTML would take for its own."""
    plain = "".join("\\" + mark if mark in "\\|*_`[]<>&~$" else mark for mark in printable(text))
    return " ".join(plain.split())


def _latex(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    from tabulate import DataRow, TableFormat

    places = "".join("l" if column.form == "s" else "r" for column in columns)
    row = DataRow("", " & ", r" \\")
    form = TableFormat(
        lambda widths, sides: f"\\begin{{tabular}}{{{places}}}\n\\toprule",
        lambda widths, sides: "\\midrule",
        None,
        lambda widths, sides: "\\bottomrule\n\\end{tabular}",
        row,
        row,
        0,
        None,
    )
    cells = [[latex_text(text) for text in texts] for texts in _cells(columns, rows)]
    return _unpadded([latex_text(column.title) for column in columns], cells, form)


def _cells(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[list[str]]:
    return [[cell(row[column.key], column.form) for column in columns] for row in rows]


def _unpadded(titles: Sequence[str], cells: Sequence[Sequence[str]], form: TableFormat) -> str:
    """A table whose cells stand as they are, without spaces that align them."""
    from tabulate import tabulate

    return str(tabulate(cells, titles, tablefmt=form, disable_numparse=True, stralign=None, numalign=None))


def latex_text(text: str) -> str:
    r"""Text with LaTeX's special characters made plain.

    >>> latex_text("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "*": "{*}"}  # the last two change a line's end
    special |= {mark: "\\" + mark for mark in "&%$#_{}"}
    return " ".join("".join(special.get(mark, mark) for mark in printable(text)).split())
