"""A result as a document, and its renderers: terminal, Markdown, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias

from mauve_metric.runtime.checks import check_known
from mauve_metric.runtime.plain_text import ENDS, cell, printable, spreadsheet_text, unlinked


class Column(NamedTuple):
    """A column: key for programs, title for people, the format of its numbers, and the ends of their range."""

    key: str
    title: str
    form: str = "s"
    ends: tuple[float, ...] = ENDS

    @classmethod
    def each(cls, form: str, *keys: str, ends: tuple[float, ...] = ENDS, **titles: str) -> tuple[Column, ...]:
        """Columns of one format: first those that are called by their keys, then those with titles of their own.

        >>> [column.title for column in Column.each(".3f", "recall", p_value="p")]
        ['recall', 'p']
        """
        return tuple(cls(key, title, form, ends) for key, title in ({key: key for key in keys} | titles).items())


TableRow: TypeAlias = dict[str, str | int | float | None]
View: TypeAlias = Literal["terminal", "markdown", "latex", "html"]

WIDTH = 110  # characters of a line of prose where the terminal is no narrower
_NARROW = 20  # characters to which a column of words is wrapped
ALL: tuple[View, ...] = ("terminal", "markdown", "latex", "html")
FILES: tuple[View, ...] = ("markdown", "latex", "html")


class Heading(NamedTuple):
    """A heading; `more` follows it in the terminal."""

    text: str
    more: str = ""


class Line(NamedTuple):
    """Text that is wrapped in the terminal, with the indents of its first line and of the others."""

    text: str
    first: str = "  "
    other: str = "  "


class Preformatted(NamedTuple):
    """Lines whose blanks count, such as a first screen; LaTeX leaves them out."""

    text: str


class Prose(NamedTuple):
    """Sentences, the empty ones left out; `lead` comes first and is bold in Markdown.

    paragraphs: whether Markdown separates them by blank lines. advice: the lines name options as Python spells them.
    """

    lines: Sequence[str | Line]
    lead: str = ""
    paragraphs: bool = False
    advice: bool = False

    @property
    def texts(self) -> list[Line]:
        """The lines that are not empty."""
        lines = [line if isinstance(line, Line) else Line(line) for line in self.lines]
        return [line for line in lines if line.text]


class Table(NamedTuple):
    """A table; one without rows is not shown."""

    columns: Sequence[Column]
    rows: Sequence[TableRow]
    views: tuple[View, ...] = ALL

    @classmethod
    def of(cls, columns: Sequence[Column], rows: Iterable[Sequence[str | float | None]]) -> Table:
        """The table with these values in its rows, in the order of the columns."""
        return cls(columns, [row_of(columns, *values) for values in rows])

    @staticmethod
    def row(columns: Sequence[Column], record: object, ci: str = "ci", /, **more: str | float | None) -> TableRow:
        """A row with the attributes that the columns name, its interval `ci` as `low` and `high`, and `more`."""
        low, high = getattr(record, ci, None) or (None, None)
        return {column.key: getattr(record, column.key, None) for column in columns} | {"low": low, "high": high} | more

    def filled(self) -> Table:
        """The table without its empty columns."""
        used = [column for column in self.columns if any(row[column.key] is not None for row in self.rows)]
        return self._replace(columns=used)


Part: TypeAlias = Heading | Preformatted | Prose | Table


class Paper(NamedTuple):
    """The table of a paper, the note below it, and what its author should know."""

    table: Table
    note: str
    caveats: Sequence[str]


@dataclass(frozen=True)
class Document:
    """Content of a result, independent of the format.

    title: shown in the terminal and in reports. parts: in order. tables: those for CSV by name, the first the usual
    one. signatures: each with the name of what it fixes, which is empty for the result itself. paper: what a
    paper shows; None: LaTeX has every table.
    """

    title: str
    parts: Sequence[Part]
    tables: Mapping[str, Table]
    signatures: Sequence[tuple[str, str]] = ()
    paper: Paper | None = None

    @property
    def first_table(self) -> Table:
        """The table that every view shows first."""
        return next(part for part in self.parts if isinstance(part, Table))

    def terminal(self, signatures: bool = True) -> str:
        """The document as wide as the terminal: parts separated by blank lines, the own signature last."""
        blocks = [[printable(self.title)], *map(_terminal_lines, self.shown("terminal"))]
        if signatures:
            blocks.append(sorted(self._signature_lines("signature"), key=lambda line: line.startswith("signature: ")))
        return "\n\n".join("\n".join(lines) for lines in blocks if any(lines))

    def markdown(self) -> str:
        """The headings, prose and tables in Markdown, signatures as code."""
        parts = [*map(_markdown_part, self.shown("markdown"))]
        parts += [f"`{signature.replace('`', ' ')}`" for signature in self._signature_lines()]
        return "\n\n".join(filter(None, parts)) + "\n"

    def latex(self, every: bool = False) -> str:
        """`paper`, or every table, as `tabular`s of the package booktabs; headings and signatures as comments."""
        parts = [] if self.paper is None else [latex_table(self.paper.table.columns, self.paper.table.rows)]
        for part in self.shown("latex") if every or self.paper is None else ():
            if isinstance(part, Table):
                parts.append(latex_table(part.columns, part.rows))
            elif isinstance(part, Heading):
                parts.append(f"% {printable(part.text)}")
        if self.paper is not None:
            parts.append(f"\\par\\smallskip{{\\footnotesize {latex_text(self.paper.note)}\\par}}")
            parts.append("\n".join(f"% {printable(caveat)}" for caveat in self.paper.caveats))
        return "\n\n".join([*parts, *(f"% {signature}" for signature in self._signature_lines())]) + "\n"

    def left_out(self) -> list[str]:
        """The sentences for which CSV and LaTeX have no room."""
        if self.paper is not None:
            return [*self.paper.caveats]
        lines = [line for part in self.parts if isinstance(part, Prose) for line in (Line(part.lead), *part.texts)]
        return [line.text for line in lines if line.text]

    def csv(self, table: str | None = None) -> str:
        """One table as CSV with a header, numbers in full; the first one by default.

        Raises:
            ValueError: no table has this name.
        """
        chosen = self.table(table)
        return csv_table(chosen.columns, chosen.rows)

    def table(self, name: str | None = None) -> Table:
        """One table, the first one by default.

        Raises:
            ValueError: no table has this name.
        """
        name = next(iter(self.tables)) if name is None else name
        check_known("table", name, self.tables)
        return self.tables[name]

    def shown(self, view: View) -> list[Part]:
        """Select the parts of a view, without tables that have no rows."""
        return [part for part in self.parts if not isinstance(part, Table) or (part.rows and view in part.views)]

    def _signature_lines(self, title: str = "") -> list[str]:
        """Lines of the signatures with their titles; `title` is that of the signature of the result itself."""
        before = f"{title}: " if title else ""
        return [f"signature of {name}: {text}" if name else before + text for name, text in self.signatures]


def row_of(columns: Sequence[Column], *values: str | float | None) -> TableRow:
    """A row with these values, in the order of the columns."""
    return {column.key: value for column, value in zip(columns, values, strict=True)}


def wrapped(text: str, first: str = "  ", other: str = "  ") -> list[str]:
    """Wrap prose in lines of `WIDTH` characters, or of the terminal's if those are fewer."""
    width = min(WIDTH, terminal_width())
    return textwrap.wrap(printable(text), width, initial_indent=first, subsequent_indent=other, break_on_hyphens=False)


def terminal_width() -> int:
    """The characters of a line of the terminal, or what `COLUMNS` says; no bound for a pipe or file."""
    return max(shutil.get_terminal_size((sys.maxsize, 1)).columns, 2 * _NARROW)


def _terminal_lines(part: Part) -> list[str]:
    if isinstance(part, Table):
        return plain_table(part.columns, part.rows)
    if isinstance(part, Heading):
        return [printable(f"{part.text}: {part.more}" if part.more else part.text)]
    if isinstance(part, Preformatted):
        lines, width = map(printable, part.text.split("\n")), terminal_width()
        return [text for line in lines for text in (wrapped(line, "", "    ") if len(line) > width else [line])]
    return [text for line in (Line(part.lead), *part.texts) for text in wrapped(*line)]


def _markdown_part(part: Part) -> str:
    if isinstance(part, Table):
        return markdown_table(part.columns, part.rows)
    if isinstance(part, Heading):
        return f"**{markdown_text(part.text)}**"
    if isinstance(part, Preformatted):  # an indented block, in which no mark means anything
        return "\n".join(f"    {printable(line)}".rstrip() for line in part.text.split("\n"))
    texts = [f"{'- ' if line.first.endswith('- ') else ''}{markdown_text(line.text)}" for line in part.texts]
    between = "\n\n" if part.paragraphs else "\n"
    return "\n\n".join(filter(None, (part.lead and f"**{markdown_text(part.lead)}**", between.join(texts))))


def plain_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[str]:
    """Aligned columns: words to the left, numbers to the right.

    In a terminal that is too narrow the longest words are wrapped; columns for which that is not enough follow in a
    table of their own, beside the first column of words again.
    """
    from tabulate import tabulate

    lines, width = _lines(columns, rows), terminal_width()
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    longest = max(widths)
    widest, over = widths.index(longest), sum(widths) + 2 * len(widths) - width
    if over > 0 and columns[widest].form == "s" and longest - over >= _NARROW:
        for line in lines:
            line[widest] = textwrap.fill(line[widest], longest - over, break_on_hyphens=False)
    elif over > 0:
        named = 1 + next((index for index, column in enumerate(columns) if column.form == "s"), 0)
        fit = sum(end <= width for end in accumulate(size + 2 for size in widths))
        fit = max(fit, named + 1)
        if fit < len(columns):
            rest = plain_table([*columns[:named], *columns[fit:]], rows)
            return [*plain_table(columns[:fit], rows), "", *rest]
    sides = ["left" if column.form == "s" else "right" for column in columns]
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
    rule = f"|{'|'.join('---' if column.form == 's' else '---:' for column in columns)}|"
    head, *body = [f"| {' | '.join(map(markdown_text, texts))} |" for texts in _lines(columns, rows)]
    return "\n".join([head, rule, *body])


def markdown_text(text: str) -> str:
    """Escape the marks that Markdown, its tables, links, formulas or HTML interpret."""
    plain = "".join("\\" + mark if mark in "\\|*_`[]<>&~$" else mark for mark in unlinked(printable(text)))
    return " ".join(plain.split())


def latex_table(columns: Sequence[Column], rows: Sequence[TableRow]) -> str:
    """A LaTeX `tabular`; it needs the package booktabs."""
    places = "".join("l" if column.form == "s" else "r" for column in columns)
    head, *body = [f"{' & '.join(map(latex_text, texts))} \\\\" for texts in _lines(columns, rows)]
    top, bottom = f"\\begin{{tabular}}{{{places}}}\n\\toprule", "\\bottomrule\n\\end{tabular}"
    return "\n".join([top, head, "\\midrule", *body, bottom])


def _lines(columns: Sequence[Column], rows: Sequence[TableRow]) -> list[list[str]]:
    """The cells of the header and of every row as text."""
    cells = [[cell(row[column.key], column.form, column.ends) for column in columns] for row in rows]
    return [[column.title for column in columns], *cells]


def latex_text(text: str) -> str:
    r"""Escape LaTeX's special characters; write characters that its text fonts lack as formulas.

    >>> latex_text("a_b & 5 %"), latex_text("lowest τ")
    ('a\\_b \\& 5 \\%', 'lowest $\\tau$')
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "*": "{*}"}  # the last two change a line's end
    special |= {"τ": r"$\tau$", "χ": r"$\chi$", "ε": r"$\varepsilon$", "²": "$^2$"}
    special |= {"‖": r"$\Vert$", "→": r"$\to$", "∞": r"$\infty$"}
    special |= {mark: "\\" + mark for mark in "&%$#_{}"}
    return " ".join("".join(special.get(mark, mark) for mark in printable(text)).split())
