"""What all figures share: colours, axes, rows of data, and how a figure becomes a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from mauve_metric.runtime.packages import import_vl_convert
from mauve_metric.runtime.whole_files import check_can_be_written, written_whole

if TYPE_CHECKING:
    import altair as alt


ChartRow = dict[str, str | float | None]
ChartRows = list[ChartRow]

QUALITY = "quality of the model's text"
COVERAGE = "coverage of human text"
_FORMATS: dict[str, Literal["png", "svg", "pdf", "html", "json"]] = {
    ".png": "png",
    ".svg": "svg",
    ".pdf": "pdf",
    ".html": "html",
    ".json": "json",
}
FIGURE_FILES = tuple(_FORMATS)

BLUE, VERMILLION, GREY = "#0072B2", "#D55E00", "#6E6E6E"  # the first two are Okabe and Ito's
SIDE = 300  # pixels of a curve's square
GAP = 30  # pixels between two charts
_PNG_SCALE = 2.0  # pixels in a .png for each pixel on the screen


class AxisStyle(TypedDict):
    """How the axes of all figures look."""

    titleFontSize: int
    titleFontWeight: Literal["normal"]
    labelFontSize: int
    gridColor: str


AXIS_STYLE: AxisStyle = {
    "titleFontSize": 12,
    "titleFontWeight": "normal",
    "labelFontSize": 11,
    "gridColor": "#E8E8E8",
}


class CurveAxes(TypedDict):
    """The encodings of a curve's two axes."""

    x: alt.X
    y: alt.Y


def curve_axes(x_title: str, y_title: str) -> CurveAxes:
    """The encodings of `coverage` and `quality` on two axes that run from 0 to 1."""
    import altair as alt

    unit, axis = alt.Scale(domain=[0, 1], nice=False), alt.Axis(values=[0, 0.2, 0.4, 0.6, 0.8, 1], **AXIS_STYLE)
    return {
        "x": alt.X("coverage:Q", title=x_title, scale=unit, axis=axis),
        "y": alt.Y("quality:Q", title=y_title, scale=unit, axis=axis, stack=None),
    }


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart to a file whose ending names the format; it appears whole or stays as it was.

    No browser and no network is needed.

    `.png` (two pixels for one), `.svg` and `.pdf` for papers; `.html` shows the values under the pointer and holds all
    its scripts itself; `.json` is Vega-Lite.

    Raises:
        ValueError: another ending.
        ImportError: vl-convert-python is not installed.
        OSError: the file cannot be written.
    """
    check_figure_path(path)
    check_can_be_written(path)
    ending = Path(path).suffix.lower()
    if ending != ".json":
        import_vl_convert()
    settings: dict[str, dict[str, Any]] = {".png": {"scale_factor": _PNG_SCALE}, ".html": {"inline": True}}
    with written_whole(path) as temporary:
        chart.save(str(temporary), format=_FORMATS[ending], **settings.get(ending, {}))


def chart_svg(chart: alt.TopLevelMixin) -> str:
    """A chart as SVG.

    Raises:
        ImportError: vl-convert-python is not installed.
    """
    svg: str = import_vl_convert().vegalite_to_svg(chart.to_json())
    return svg


def check_figure_path(path: str | Path) -> None:
    """`ValueError` unless `save_chart` can write a file of that name.

    >>> check_figure_path("curve.gif")
    Traceback (most recent call last):
    ValueError: a figure cannot be written to 'curve.gif': expected a name that ends in .png, .svg, .pdf, .html, .json
    """
    if Path(path).suffix.lower() not in FIGURE_FILES:
        known = ", ".join(FIGURE_FILES)
        raise ValueError(f"a figure cannot be written to {str(path)!r}: expected a name that ends in {known}")


COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
DASHES = ([1, 0], [7, 3], [2, 2], [9, 3, 2, 3], [12, 4], [5, 2, 1, 2, 1, 2], [4, 4], [1, 4])
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
