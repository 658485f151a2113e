"""Shared parts of all figures: colours, axes, rows of data, and their Vega-Lite specification."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import altair as alt

from mauve_metric.report.wording.words import reference_text
from mauve_metric.runtime.plain_text import figure_text, shown_names

T = TypeVar("T")
Channel = TypeVar("Channel", alt.Color, alt.Shape, alt.StrokeDash)
ChartRow = dict[str, str | float | None]
ChartRows = list[ChartRow]

QUALITY = "quality of the model's text"
# One meaning a colour, in every figure: the human texts, each model, the two sides of a gap. All stand out from white
# and from a dark page, and are told apart by people with any colour vision, the models also by dash and shape.
HUMAN = "#767676"
COLORS = ("#0072B2", "#B25D24", "#00A362", "#D81FB0", "#6596E0", "#85673C", "#6DA349", "#D15EA3")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [5, 2, 1, 2, 1, 2], [4, 4], [1, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
TOO_MUCH, MISSED = "#E66100", "#9A50E8"
DARK = {HUMAN: "#A3A3A3", COLORS[0]: "#56B4E9", COLORS[5]: "#8F7040"}  # on a dark page, whose contrast the others have
LINE = "#8A8A8A"  # reference lines, which belong to no set

SIDE = 300  # pixels of a curve's square
GAP = 30  # pixels between two charts
_LONGEST_LABEL = 44  # characters of a name in a figure
TITLE_STYLE: dict[str, Any] = {"titleFontSize": 12, "titleFontWeight": "normal"}  # of all axes
AXIS_STYLE: dict[str, Any] = {**TITLE_STYLE, "labelFontSize": 11, "gridColor": "#E8E8E8"}


UNIT: dict[str, Any] = {"domain": [0, 1], "nice": False}  # the scale of a score
UNIT_AXIS: dict[str, Any] = {"values": [0, 0.2, 0.4, 0.6, 0.8, 1], **AXIS_STYLE}
BARE_AXIS: dict[str, Any] = {"labels": False, "ticks": False, "grid": False, **TITLE_STYLE}


def of_rows(rows: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """A chart of rows of data."""
    return alt.Chart(alt.InlineData(values=list(rows)))


def marks(rows: Sequence[Mapping[str, Any]], kind: Any, **style: Any) -> alt.Chart:
    """A chart of rows of data with marks of one kind."""
    return alt.Chart(alt.InlineData(values=list(rows)), mark=alt.MarkDef(kind, **style))


def layered(
    layers: Sequence[alt.Chart], width: float, height: float, title: Sequence[str], description: str
) -> alt.LayerChart:
    """A figure of layers: its size in pixels, its title and the lines under it, and words for who does not see it."""
    chart = alt.LayerChart(layer=list(layers))
    return chart.properties(width=width, height=height, title=heading(*title), description=description)


def coverage_of(name: str) -> str:
    """The title of an axis of coverage; name: of the reference texts.

    >>> coverage_of("human"), coverage_of("release 1.2")
    ('coverage of human text', 'coverage of release 1.2')
    """
    return figure_text(f"coverage of {reference_text(name)}")


def curve_axes(x_title: str, y_title: str) -> tuple[alt.X, alt.Y]:
    """The encodings of `coverage` and `quality` on two axes from 0 to 1."""
    shared: dict[str, Any] = {"scale": alt.Scale(**UNIT), "axis": alt.Axis(**UNIT_AXIS)}
    return alt.X("coverage:Q", title=x_title, **shared), alt.Y("quality:Q", title=y_title, **shared, stack=None)


def curve_rows(points: Iterable[Sequence[float]], **more: str | float | None) -> ChartRows:
    """One row for each point (quality, coverage), in their order."""
    return [{**more, "row": row, "coverage": x, "quality": y} for row, (y, x) in enumerate(points)]


def tooltips(titles: Mapping[str, str], form: str = ".4f") -> list[alt.Tooltip]:
    """Numbers under the pointer, by their keys in the rows."""
    return [alt.Tooltip(f"{key}:Q", title=title, format=form) for key, title in titles.items()]


def numbers(form: str, *keys: str) -> list[alt.Tooltip]:
    """Numbers under the pointer, called by their keys in the rows."""
    return [alt.Tooltip(f"{key}:Q", format=form) for key in keys]


def model_channel(channel: type[Channel], names: Sequence[str], key: alt.Legend | None) -> Channel:
    """The encoding of models by a colour, a dash or a shape each."""
    values: Mapping[Any, Sequence[Any]] = {alt.Color: COLORS, alt.StrokeDash: DASHES, alt.Shape: SHAPES}
    scale = alt.Scale(domain=list(names), range=cycle(values[channel], len(names)))
    return channel("model:N", scale=scale, legend=key, sort=list(names))


def heading(text: str, *below: str) -> alt.TitleParams:
    """The title of a figure and the lines under it, from the left edge on; a line has about 55 characters at most."""
    return alt.Title(text, subtitle=list(below), anchor="start", frame="bounds", fontSize=12, subtitleFontSize=11)


def equal_line() -> alt.Chart:
    """The line on which coverage equals quality."""
    ends = [{"coverage": end, "quality": end} for end in (0, 1)]
    line = marks(ends, "line", color=LINE, strokeDash=[2, 4], strokeWidth=1)
    return line.encode(alt.X("coverage:Q"), alt.Y("quality:Q"))


def cycle(values: Sequence[T], count: int) -> list[T]:
    """Take the first values, repeated from the start where they are too few."""
    return [values[index % len(values)] for index in range(count)]


def short_labels(names: Sequence[str], most: int = _LONGEST_LABEL) -> list[str]:
    """Shorten long names for a figure: beginning and end, and a number where these are the same.

    >>> short_labels(["gpt2", "a-very-long-name-1", "a-very-long-name-2"], most=9)
    ['gpt2', 'a-ver…e-1', 'a-ver…e-2']
    """

    def short(name: str) -> str:
        tail = (most - 1) // 2 - 1
        return name if len(name) <= most else f"{name[: most - 1 - tail]}…{name[-tail:]}"

    return list(shown_names(list(names), short).values())


def legend(names: Sequence[str], lines: bool = False) -> alt.Legend:
    """The names under a figure, the long ones shortened; on the page the whole name is seen under the pointer.

    Args:
        names: in the order of their scale.
        lines: whether it shows dashes; else it shows shapes.
    """
    labels = short_labels(names)
    widest = 26 + 6 * max(map(len, labels))  # pixels, about
    return alt.Legend(
        title=None,
        orient="bottom",
        direction="horizontal",
        columns=max(SIDE // widest, 1),
        labelExpr=f"{json.dumps(labels)}[datum.index]",
        labelLimit=SIDE,
        labelFontSize=11,
        symbolStrokeWidth=2 if lines else 0,
        symbolSize=300 if lines else 70,
        symbolOpacity=1,
        rowPadding=3,
    )
