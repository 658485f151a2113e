"""Common parts of all experiments: arguments, human texts, a progress bar, and how a table and a figure are kept.

An experiment is one script with one table and one figure. `save` writes three files for it into a folder,
`experiments/results/` unless told otherwise: NAME.md (command, machine, table, figure), NAME.csv and NAME.svg. What a
person wrote in NAME.md below the heading `## Paper and result` stays there when the script is run again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from mauve_metric import __version__
from mauve_metric.report.charts.figure import AXIS_STYLE, COLORS, LINE, SHAPES, cycle
from mauve_metric.report.document import Column, TableRow, csv_table, markdown_table
from mauve_metric.report.html_and_images import save_chart
from mauve_metric.runtime.outputs import written_whole
from mauve_metric.runtime.plain_text import cell

if TYPE_CHECKING:
    import altair as alt

    from mauve_metric.apps.describing.description import Description
    from mauve_metric.arrays import MeasuredValue

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES, RESULTS = ROOT / "examples", ROOT / "experiments" / "results"
BY_HAND = "## Paper and result"  # a person writes what follows, not the script
INK, GRID = "#767676", "#8888884D"  # seen on white and on a dark page alike
AXIS: dict[str, Any] = {**AXIS_STYLE, "gridColor": GRID}  # of every axis: `alt.Axis(**AXIS)`
LOOK: dict[str, Any] = {
    "background": "transparent",
    "view": {"stroke": LINE, "strokeOpacity": 0.4},
    "axis": {"labelColor": INK, "titleColor": INK, "domainColor": INK, "tickColor": INK, "gridColor": GRID},
    "legend": {"labelColor": INK, "titleColor": INK},
    "title": {"color": INK, "subtitleColor": INK},
    "header": {"labelColor": INK, "titleColor": INK},
}

T = TypeVar("T")


def argument_parser(doc: str | None) -> argparse.ArgumentParser:
    """The parser of a script with what all scripts take: `--out`, `--seed`.

    Args:
        doc: the script's docstring; its first line is the help.
    """
    logging.getLogger("mauve_metric").setLevel(logging.ERROR)  # messages about each score of a table
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for table and figure (experiments/results)")
    parser.add_argument("--seed", type=int, default=0, help="of everything random (default: %(default)s)")
    return parser


def neighbour(folder: str, name: str) -> ModuleType:
    """A script of another folder of the repository as a module: `neighbour("benchmarks", "machine")`."""
    path = str(ROOT / folder)
    sys.path.append(path)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(path)


def example_texts(name: str) -> list[str]:
    """The texts of a file of `examples/`, such as "human" or "nucleus" (600 each).

    Raises:
        ValueError: there is no such file.
    """
    path = EXAMPLES / f"{name}.jsonl"
    if not path.exists():
        known = ", ".join(sorted(found.stem for found in EXAMPLES.glob("*.jsonl")))
        raise ValueError(f"name must be one of {known}, got {name!r}")
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


def progress(steps: Iterable[T], title: str, total: int | None = None) -> Iterable[T]:
    """The steps under a progress bar on stderr.

    Args:
        title: what is done. total: how many there are, where `steps` has no length.
    """
    from tqdm.auto import tqdm

    bar: Iterable[T] = tqdm(steps, desc=title, total=total, dynamic_ncols=True)
    return bar


def described_row(found: Description, model: str | None, measures: Iterable[str]) -> TableRow:
    """The measures of one model, or of the human texts, with intervals of the values themselves."""
    row: TableRow = {}
    for name in measures:
        item = None if model is None else found.models[model].get(name)
        row[name] = found.human.get(name) if item is None else item.value
        if item is not None and item.ci is not None:  # of the difference, where the human texts have a value
            zero = 0.0 if item.difference is None else item.value - item.difference
            row |= {f"{name}_low": zero + item.ci[0], f"{name}_high": zero + item.ci[1]}
    return row


def measured_row(name: str, found: MeasuredValue) -> TableRow:
    """A value with its interval."""
    low, high = found.ci or (None, None)
    return {name: found.value, f"{name}_low": low, f"{name}_high": high}


def share_row(name: str, share: float, count: int) -> TableRow:
    """A share of so many texts with its interval by Wilson."""
    from scipy.stats import binomtest

    low, high = binomtest(round(share * count), count).proportion_ci(method="wilson")
    return {name: share, f"{name}_low": float(low), f"{name}_high": float(high)}


def marks_of(names: Sequence[str], field: str = "model") -> dict[str, Any]:
    """Colour and shape of each name, with one legend under the figure: encodings for `Chart.encode`.

    Args:
        names: in their order. field: of the rows.
    """
    import altair as alt

    key = alt.Legend(title=None, orient="bottom", labelFontSize=11, symbolStrokeWidth=0, symbolOpacity=1)
    color = alt.Scale(domain=list(names), range=cycle(COLORS, len(names)))
    shape = alt.Scale(domain=list(names), range=cycle(SHAPES, len(names)))
    return {
        "color": alt.Color(f"{field}:N", scale=color, legend=key),
        "shape": alt.Shape(f"{field}:N", scale=shape, legend=key),
    }


def save(
    name: str,
    title: str,
    columns: Sequence[Column],
    rows: Sequence[TableRow],
    chart: alt.TopLevelMixin,
    *,
    seconds: float,
    notes: Sequence[str] = (),
    out: Path = RESULTS,
) -> Path:
    """Write an experiment's table and figure; the path of its page, NAME.md.

    Args:
        name: of the files, that of the script. title: of the page.
        columns: key, title and number format of each (`Column("mauve", "MAUVE", ".3f")`).
        rows: values by key; what a row lacks is left empty. KEY_low and KEY_high are the interval of a value: it
            follows the value on the page, and has columns of its own in the CSV.
        chart: with a description, which is read where the figure is not seen. It gets greys and no background, so
            that it is read on a light page and on a dark one; its own `configure` is replaced.
        seconds: that the whole took. notes: paragraphs between the command and the table: what was run, on what.
        out: the folder.

    Raises:
        ValueError: no rows. ImportError: vl-convert-python is not installed. OSError: a file cannot be written.
    """
    if not rows:
        raise ValueError("rows must hold at least one row, got none")
    ends = [f"{column.key}_{end}" for column in columns for end in ("low", "high")]
    kept = [*columns, *(Column(end, end) for end in ends if any(end in row for row in rows))]
    complete = [{column.key: row.get(column.key) for column in kept} for row in rows]
    shown = [column._replace(form=">" if column.form != "s" else "s") for column in columns]
    table = markdown_table(shown, [{column.key: _with_interval(row, column) for column in columns} for row in rows])
    out.mkdir(parents=True, exist_ok=True)
    save_chart(chart.configure(**LOOK), out / f"{name}.svg")
    page = out / f"{name}.md"
    text = _page(name, title, table, chart, seconds, notes, _by_hand(page))
    for path, content in ((out / f"{name}.csv", csv_table(kept, complete)), (page, text)):
        with written_whole(path) as temporary:
            temporary.write_text(content, encoding="utf-8", newline="\n")
    return page


def _with_interval(row: TableRow, column: Column) -> str:
    """A cell of the page: the value, and behind it the interval."""
    value, low, high = (
        cell(row.get(key), column.form, column.ends) for key in (column.key, f"{column.key}_low", f"{column.key}_high")
    )
    return value if row.get(f"{column.key}_low") is None else f"{value} ({low} to {high})"


def command() -> str:
    """The command of the running script, as from the root of the repository."""
    script = Path(sys.argv[0]).resolve()
    shown = script.relative_to(ROOT).as_posix() if script.is_relative_to(ROOT) else script.name
    return shlex.join(["python", shown, *sys.argv[1:]])


def _page(
    name: str,
    title: str,
    table: str,
    chart: alt.TopLevelMixin,
    seconds: float,
    notes: Sequence[str],
    by_hand: str,
) -> str:
    """NAME.md."""
    machine = neighbour("benchmarks", "machine").machine()
    took = f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} minutes"
    parts = [
        f"# {title}",
        f"    {command()}",
        f"{took} on {machine}; mauve_metric {__version__}.",
        *notes,
        table.strip(),
        f"![{chart.description}]({name}.svg)",
        by_hand.strip(),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _by_hand(page: Path) -> str:
    """The part by a person on a page that is there already."""
    if not page.exists():
        return ""
    _, heading, text = page.read_text(encoding="utf-8").partition(BY_HAND)
    return heading + text
