"""Rows of values as tables: for the terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mauve_metric.results.digits import ENDS, cell
from mauve_metric.results.names import printable, spreadsheet_text

if TYPE_CHECKING:
    from tabulate import TableFormat


class Column(NamedTuple):
    """A column: key for programs, title for people, the format of its numbers, and the ends of their range."""

    key: str
    title: str
    form: str = "s"
    ends: tuple[float, ...] = ENDS


TableRow: TypeAlias = dict[str, str | int | float | None]


def plain_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[str]:
    """Aligned columns: words to the left, numbers to the right."""
    from tabulate import tabulate

    sides = ["left" if column.form == "s" else "right" for column in columns]
    lines = [[column.title for column in columns], *_cells(columns, rows)]
    table = tabulate(lines, tablefmt="plain", colalign=sides, disable_numparse=True)
    return [f"  {line}".rstrip() for line in table.split("\n")]


def csv_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    """CSV with a header, numbers in full; a missing value is an empty field, and no name is a formula."""
    out = io.StringIO()
    keys = [column.key for column in columns]
    writer = csv.DictWriter(out, keys, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: spreadsheet_text(value) if isinstance(value, str) else value for k, value in row.items()})
    return out.getvalue()


def markdown_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    """A Markdown table."""
    from tabulate import DataRow, TableFormat

    rule = "|".join("---" if column.form == "s" else "---:" for column in columns)
    row = DataRow("| ", " | ", " |")
    form = TableFormat(None, lambda widths, sides: f"|{rule}|", None, None, row, row, 0, None)
    cells = [[markdown_text(text) for text in texts] for texts in _cells(columns, rows)]
    return _unpadded([markdown_text(column.title) for column in columns], cells, form)


def markdown_text(text: str) -> str:
    """Text without a mark that Markdown, its tables, links, formulas or HTML would take for its own."""
    plain = "".join("\\" + mark if mark in "\\|*_`[]<>&~$" else mark for mark in printable(text))
    return " ".join(plain.split())


def latex_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    """A LaTeX `tabular`; it needs the package booktabs."""
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
    return [[cell(row[column.key], column.form, column.ends) for column in columns] for row in rows]


def _unpadded(titles: Sequence[str], cells: Sequence[Sequence[str]], form: TableFormat) -> str:
    """A table whose cells stand as they are, without spaces that align them."""
    from tabulate import tabulate

    return str(tabulate(cells, titles, tablefmt=form, disable_numparse=True, stralign=None, numalign=None))


_FORMULAS = {
    mark: f"${formula}$"
    for mark, formula in {
        "τ": r"\tau",
        "χ": r"\chi",
        "ε": r"\varepsilon",
        "²": "^2",
        "‖": r"\Vert",
        "→": r"\to",
        "∞": r"\infty",
    }.items()
}


def latex_text(text: str) -> str:
    r"""Text with LaTeX's special characters made plain, and as formulas what its fonts for text do not have.

    >>> latex_text("a_b & 5 %"), latex_text("lowest τ")
    ('a\\_b \\& 5 \\%', 'lowest $\\tau$')
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "*": "{*}"}  # the last two change a line's end
    special |= {mark: "\\" + mark for mark in "&%$#_{}"} | _FORMULAS
    return " ".join("".join(special.get(mark, mark) for mark in printable(text)).split())
