"""Endings of files of results; figures as files, without a browser and without a network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mauve_metric.runtime.errors import NotWritten
from mauve_metric.runtime.optional_imports import import_vl_convert
from mauve_metric.runtime.outputs import check_can_be_written, written_whole

if TYPE_CHECKING:
    import altair as alt

FIGURE_FILES = (".png", ".svg", ".pdf", ".html", ".json")
REPORT_FILES = (".html", ".htm")
_PNG_SCALE = 3.0  # pixels in a .png for each pixel on the screen


def save_chart(chart: alt.TopLevelMixin, path: str | Path) -> None:
    """Write a chart to a file whose ending names the format; it appears whole or stays as it was.

    No browser and no network is needed.

    `.png` (three pixels for one), `.svg` and `.pdf` for papers; `.html` shows the values under the pointer and holds
    all its scripts itself; `.json` is Vega-Lite.

    Raises:
        ValueError: another ending.
        ImportError: vl-convert-python is not installed.
        OSError: the file cannot be written.
    """
    check_ending("figure", path, FIGURE_FILES)
    check_can_be_written(path)
    ending = Path(path).suffix.lower()
    if ending != ".json":
        import_vl_convert()
    settings: dict[str, dict[str, Any]] = {".png": {"scale_factor": _PNG_SCALE}, ".html": {"inline": True}}
    with written_whole(path) as temporary:
        chart.save(str(temporary), format=cast("Any", ending[1:]), **settings.get(ending, {}))


def chart_svg(chart: alt.TopLevelMixin) -> str:
    """A chart as SVG.

    Raises:
        ImportError: vl-convert-python is not installed.
    """
    svg: str = import_vl_convert().vegalite_to_svg(chart.to_json())
    return svg


def check_ending(what: str, path: str | Path, endings: Sequence[str]) -> str:
    """A file's name; `ValueError` unless it has one of these endings.

    >>> check_ending("page", "a.md", REPORT_FILES)
    Traceback (most recent call last):
    mauve_metric.runtime.errors.NotWritten: a page cannot be written to 'a.md': expected a name that ends in .html, .htm
    """
    if Path(path).suffix.lower() not in endings:
        raise NotWritten(
            f"a {what} cannot be written to {str(path)!r}: expected a name that ends in {', '.join(endings)}"
        )
    return str(path)
