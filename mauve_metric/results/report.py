"""A comparison as one HTML page that opens offline: all texts escaped, figures as pictures, no script."""

from __future__ import annotations

import base64
import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mauve_metric.results.document import Document
from mauve_metric.results.figure_files import REPORT_FILES, chart_svg, check_ending
from mauve_metric.results.plain_text import cell, digits
from mauve_metric.results.wording import answer, evidence, words
from mauve_metric.results.wording import verdict as verdicts
from mauve_metric.runtime.outputs import check_can_be_written, written_whole

if TYPE_CHECKING:
    import altair as alt
    import jinja2

    from mauve_metric.results.comparison import Comparison
    from mauve_metric.results.explanation import NearText, ScoredText


LONGEST_TEXT = 1500  # characters shown of a text


def save_page(path: str | Path, page: Callable[[], str]) -> Path:
    """Write a page to a file whose name was checked before the page is made; errors as for `Result.save_report`."""
    path = Path(path)
    check_ending("report", path, REPORT_FILES)
    check_can_be_written(path)
    text = page()
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def report_page(comparison: Comparison, measures: Document | None = None) -> str:
    """The page: conclusion, warnings, models, figures, differences, buckets of each model, signatures.

    measures: the document of a description of the same models.

    The page holds no script and fetches nothing; its content security policy enforces both.
    """
    from mauve_metric.results.charts import of_comparison

    comparison = words.with_labels(comparison)
    results = list(comparison.models.values())
    found = words.collected_warnings(comparison)
    others = [*words.each_featurizer(comparison).items()][1:]
    signatures = [("comparison", comparison.signature)]
    signatures += [(f"comparison, {name}", one.signature) for name, one in others]
    for name, result in comparison.models.items():
        signatures.append((f"{name}, common buckets", result.signature))
        signatures.append((f"{name}, own buckets", comparison.own[name].signature))
    signatures += [] if measures is None else [("measures", text) for _, text in measures.signatures]
    return _template().render(
        answer=answer,
        title=f"MAUVE of {len(results)} model{'s' if len(results) > 1 else ''} against {results[0].n_p} human texts",
        level=f"{100 * comparison.confidence_level:g} %",
        common=results[0],
        comparison=comparison,
        tables=comparison.document().tables,
        joint=comparison.joint_verdict,
        severe=[item for item in found if item[1].severe],
        other=[item for item in found if not item[1].severe],
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
        loader=jinja2.PackageLoader("mauve_metric", "results"),
        autoescape=True,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    known = {
        "words": words,
        "verdicts": verdicts,
        "evidence": evidence,
        "cell": cell,
        "digits": digits,
        "source": _source,
        "pieces": _pieces,
    }
    return environment.get_template(name, globals=known)


def _printable(value: object) -> object:
    """Text with control characters as the replacement character; what is no text, or escaped already, as it is."""
    if type(value) is not str:
        return value
    return "".join(mark if mark.isprintable() or mark in "\n\t " else "\ufffd" for mark in value)


def _source(chart: alt.TopLevelMixin) -> str:
    """A chart as the address of an `img` that holds it as SVG, where nothing in it can run."""
    return f"data:image/svg+xml;base64,{base64.b64encode(chart_svg(chart).encode()).decode()}"


def _pieces(near: NearText | ScoredText, phrases: Sequence[str]) -> list[evidence.Piece]:
    """The displayed part of a text, in pieces."""
    return evidence.marked(near.text or "(the text was not given)", phrases if near.text else (), LONGEST_TEXT)
