"""Figures and reports of results as files."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mauve_metric.report.document import Document
from mauve_metric.report.wording import words
from mauve_metric.report.wording.words import with_reference
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import NearText, ScoredText
from mauve_metric.runtime.checks import check_path
from mauve_metric.runtime.optional_imports import import_vl_convert
from mauve_metric.runtime.outputs import FIGURE_FILES, REPORT_FILES, check_can_be_written, check_ending, written_whole
from mauve_metric.runtime.plain_text import cell, counted, digits, printable

if TYPE_CHECKING:
    import altair as alt
    import jinja2


_PNG_SCALE = 3.0  # pixels in a .png for each pixel on the screen
LONGEST_TEXT = 1500  # characters shown of a text


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
    svg: str = import_vl_convert().vegalite_to_svg(chart.to_json(validate=False))
    return svg


def save_page(path: str | Path, page: Callable[[], str]) -> Path:
    """Write a page to a file whose name was checked before the page is made; errors as for `Result.save_report`."""
    path = check_path("path", path)
    check_ending("report", path, REPORT_FILES)
    check_can_be_written(path)
    text = page()
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def report_page(comparison: Comparison, measures: Document | None = None) -> str:
    """The page: first screen, warnings, models, figures, differences, buckets of each model, signatures.

    measures: the document of a description of the same models.

    The page holds no script and fetches nothing; its content security policy enforces both.
    """
    from mauve_metric.report.charts import of_comparison

    comparison = words.with_labels(comparison)
    results, document = list(comparison.models.values()), comparison.document()
    warnings = words.collected_warnings(comparison)
    signatures = [("comparison", comparison.signature)]
    signatures += [
        (f"comparison, {printable(name)}", single.signature) for name, single in comparison.by_featurizer.items()
    ]
    for name, result in comparison.models.items():
        signatures.append((f"{name}, common buckets", result.signature))
        signatures.append((f"{name}, own buckets", comparison.own[name].signature))
    signatures += [] if measures is None else [("measures", text) for _, text in measures.signatures]
    return _template().render(
        title=f"{counted(len(results), 'model')} against {results[0].n_p} {printable(results[0].reference_name)} texts",
        screen=next(iter(comparison.models.values())).first_screen() if len(results) == 1 else str(comparison),
        level=f"{100 * comparison.confidence_level:g} %",
        common=results[0],
        comparison=comparison,
        models=document.first_table,
        tables=document.tables,
        severe=[warning for warning in warnings if warning[1].severe],
        other=[warning for warning in warnings if not warning[1].severe],
        measures=measures,
        of_comparison=of_comparison,
        signatures=signatures,
    )


def document_page(document: Document, chart: alt.TopLevelMixin) -> str:
    """The page of any other result: title, figure, prose and tables, signatures; all that it holds is escaped."""
    return _template("document.html").render(
        title=document.title or "Result",
        parts=[(type(part).__name__, part) for part in document.shown("html")],
        chart=chart,
        signatures=[(name or "result", text) for name, text in document.signatures],
    )


@functools.cache
def _template(name: str = "report.html") -> jinja2.Template:
    """A template beside this file; what it is given is escaped."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mauve_metric", "report"),
        autoescape=True,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    helpers = {
        "words": words,
        "with_reference": with_reference,
        "cell": cell,
        "digits": digits,
        "source": chart_source,
        "pieces": _pieces,
    }
    return environment.get_template(name, globals=helpers)


def _printable(value: object) -> object:
    """Text with control characters as the replacement character; what is no text, or escaped already, as it is."""
    if type(value) is not str:
        return value
    return "".join(mark if mark.isprintable() or mark in "\n\t " else "\ufffd" for mark in value)


def chart_source(chart: alt.TopLevelMixin) -> str:
    """A chart as the address of an `img` that holds it as SVG, where nothing in it can run."""
    return f"data:image/svg+xml;base64,{base64.b64encode(chart_svg(chart).encode()).decode()}"


def _pieces(near: NearText | ScoredText, phrases: Sequence[str]) -> list[words.Piece]:
    """The displayed part of a text, in pieces."""
    return words.marked(near.text or "(the text was not given)", phrases if near.text else (), LONGEST_TEXT)
