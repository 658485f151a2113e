"""One HTML page with a whole comparison, that opens offline: all texts escaped, figures as pictures, no script."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mauve_metric.results import tables, words
from mauve_metric.results.charts import figure, of_comparison, of_explanation
from mauve_metric.results.numbers import ComparisonNumbers, ExplanationNumbers, GapBucket, NearText
from mauve_metric.results.words import ranking_verdict

if TYPE_CHECKING:
    import altair as alt


REPORT_FILES = (".html", ".htm")
LONGEST_TEXT = 1500  # characters shown of a text

_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 66rem; margin: 2rem auto;
  padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.25rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .55rem; border-bottom: 1px solid #ddd; text-align: left; vertical-align: top; }
th.number, td.number { text-align: right; } thead th { border-bottom: 2px solid #555; white-space: nowrap; }
td { overflow-wrap: break-word; } td.number { white-space: nowrap; }
summary { font-weight: 600; margin: .8rem 0; cursor: pointer; }
tr.real td { font-weight: 600; }
img { max-width: 100%; height: auto; }
.note, .facts { color: #444; font-size: .9rem; } .noise { color: #6e6e6e; }
.warning { border-left: 4px solid #E69F00; padding: .1rem .8rem; margin: .4rem 0; }
.texts { display: grid; grid-template-columns: 1fr 1fr; gap: 0 1.2rem; }
.texts h4 { font-size: .85rem; margin: .4rem 0; color: #444; }
blockquote { margin: .3rem 0; padding: .3rem .7rem; background: #f5f5f5; font-size: .88rem; overflow-wrap: anywhere;
  white-space: pre-wrap; }
blockquote.human { border-left: 4px solid #0072B2; } blockquote.model { border-left: 4px solid #D55E00; }
.label { color: #555; font-size: .8rem; }
code { overflow-wrap: anywhere; font-size: .8rem; }
@media (max-width: 40rem) { .texts { grid-template-columns: 1fr; } }
"""


def save_report(comparison: ComparisonNumbers, path: str | Path) -> Path:
    """Write `report_page` to a file.

    Raises:
        ValueError: the name does not end in .html or .htm.
        ImportError: Altair or vl-convert-python is not installed.
        OSError: the file cannot be written.
    """
    path = Path(path)
    check_report_path(path)
    path.write_text(report_page(comparison), encoding="utf-8")
    return path


def check_report_path(path: str | Path) -> None:
    """`ValueError` unless a report can be written to a file of that name.

    >>> check_report_path("report.pdf")
    Traceback (most recent call last):
    ValueError: a report cannot be written to 'report.pdf': expected a name that ends in .html, .htm
    """
    if Path(path).suffix.lower() not in REPORT_FILES:
        known = ", ".join(REPORT_FILES)
        raise ValueError(f"a report cannot be written to {str(path)!r}: expected a name that ends in {known}")


def report_page(comparison: ComparisonNumbers) -> str:
    """The page: conclusion, warnings, models, figures, differences, buckets of each model, signatures.

    It holds no script and fetches nothing, which its content security policy also says.
    """
    results = list(comparison.models.values())
    title = f"MAUVE of {len(results)} model{'s' if len(results) > 1 else ''} against {results[0].n_p} human texts"
    level = f"{100 * comparison.confidence_level:g} %"
    body = [
        _tag("h1", title),
        _tag(
            "p", f"{results[0].num_buckets} buckets common to all; intervals: {level}, {results[0].ci_scope}.", "note"
        ),
        _tag("p", ranking_verdict(comparison)),
        *_warning_lines(comparison),
        _tag("h2", "Models"),
        _table(tables.MODEL_COLUMNS, tables.model_rows(comparison)),
        *(_tag("p", note, "note") for note in words.NOTES),
        _picture(of_comparison.forest_chart(comparison), "debiased scores with their intervals"),
        _picture(of_comparison.curve_charts(comparison), "divergence curves, precision and recall"),
    ]
    if comparison.differences:
        body += [
            _tag("h2", "Differences"),
            _tag("p", words.conclusion(comparison)),
            _tag("p", words.forecast_sentence(comparison)),
            _table(tables.DIFFERENCE_COLUMNS, tables.difference_rows(comparison)),
        ]
    if comparison.explanations:
        body += [_tag("h2", "What makes the gaps"), _tag("p", words.STABILITY_NOTE, "note")]
        body += [_explanation(name, comparison.explanations[name]) for name in comparison.ranking]
    body.append(_tag("h2", "Signatures"))
    body.append(_signatures(comparison))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _escape(text: str) -> str:
    """Text for HTML, in and outside attributes, control characters as the replacement character."""
    shown = "".join(mark if mark.isprintable() or mark in "\n\t " else "\ufffd" for mark in text)
    return html.escape(shown, quote=True)


def _tag(name: str, text: str, kind: str = "") -> str:
    """An element around a text, which is escaped."""
    return f"<{name}{_class(kind)}>{_escape(text)}</{name}>"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _warning_lines(comparison: ComparisonNumbers) -> Iterable[str]:
    for who, warning in words.collected_warnings(comparison):
        yield _tag("p", f"{who}: {warning.message}" if who else warning.message, "warning")


def _table(columns: Sequence[tables.Column], rows: Sequence[dict[str, Any]]) -> str:
    head = "".join(_tag("th", column.title, _kind(column)) for column in columns)
    lines = []
    for row in rows:
        cells = "".join(_tag("td", words.cell(row[column.key], column.form), _kind(column)) for column in columns)
        lines.append(f"<tr{_class('real' if row.get('real') == 'yes' else '')}>{cells}</tr>")
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(lines)
        + "\n</tbody></table></div>"
    )


def _kind(column: tables.Column) -> str:
    return "" if column.form == "s" else "number"


def _picture(chart: alt.TopLevelMixin, description: str) -> str:
    """A chart as an SVG inside an `img`, where nothing in it can run."""
    data = base64.b64encode(figure.chart_svg(chart).encode()).decode()
    return f'<p><img alt="{_escape(description)}" src="data:image/svg+xml;base64,{data}"></p>'


def _explanation(name: str, explanation: ExplanationNumbers) -> str:
    parts = [
        f"<details><summary>{_escape(name)}: a gap of {explanation.gap:.3f}, "
        f"{explanation.type_one:.3f} from buckets filled too much, {explanation.type_two:.3f} from missed ones"
        "</summary>",
        _picture(of_explanation.contributions_chart(explanation), f"buckets of {name} by their part of the gap"),
        *(_bucket(bucket) for bucket in explanation.buckets),
        "</details>",
    ]
    return "\n".join(parts)


def _bucket(bucket: GapBucket) -> str:
    facts = "".join(
        f"<br><b>{_escape(name)}:</b> {_escape(value)}" for name, value in words.bucket_facts(bucket)
    ).removeprefix("<br>")
    return "\n".join(
        [
            _tag("h3", words.bucket_title(bucket), "noise" if bucket.noise else ""),
            f'<p class="facts">{facts}</p>',
            '<div class="texts">',
            _texts("human", bucket.p_texts),
            _texts("model", bucket.q_texts),
            "</div>",
        ]
    )


def _texts(side: str, near: Sequence[NearText]) -> str:
    lines = [f"<div>{_tag('h4', f'{side} texts nearest to the centre')}"]
    for item in near:
        shown = item.text or "(the text was not given)"
        shown = shown if len(shown) <= LONGEST_TEXT else shown[:LONGEST_TEXT] + " …"
        label = _tag("div", words.near_label(item), "label")
        lines.append(f'<blockquote class="{side}">{label}{_escape(shown)}</blockquote>')
    return "\n".join([*lines, "</div>"])


def _signatures(comparison: ComparisonNumbers) -> str:
    named = [("comparison", comparison.signature)]
    for name, result in comparison.models.items():
        named += [
            (f"{name}, common buckets", result.signature),
            (f"{name}, own buckets", comparison.own[name].signature),
        ]
    return "\n".join(f"<p>{_tag('b', name)}<br>{_tag('code', value)}</p>" for name, value in named)
