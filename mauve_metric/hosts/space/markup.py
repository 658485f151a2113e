"""HTML of the page: everything that a visitor wrote is escaped here, and nowhere becomes anything but text."""

from __future__ import annotations

import html
import statistics
from collections.abc import Sequence

import numpy as np

from mauve_metric.hosts.space.uploads import TextSet
from mauve_metric.results import tables, words
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation
from mauve_metric.results.numbers import GapBucket, NearText
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES
from mauve_metric.results.words import NOTES, forecast_sentence, ranking_verdict
from mauve_metric.uncertainty.score_warnings import ScoreWarning

_PREVIEW_ROWS = 3
_PREVIEW_CHARACTERS = 160
_BUCKET_TEXTS = 12
_NEAREST_OUTSIDE = 3  # texts shown of a side that has none in a bucket
_BUCKET_CHARACTERS = 700
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# `{`, `$` and the backtick mean something in the templates of gr.HTML; controls and direction marks are made visible
_VISIBLE = {code: f"&#x{code + 0x2400:x};" for code in range(32) if chr(code) not in "\t\n\r"} | {
    **{ord(mark): f"[U+{ord(mark):04X}]" for mark in _BIDI_CONTROLS},
    **{ord(mark): f"&#{ord(mark)};" for mark in "{}$`"},
}


def escape(text: str) -> str:
    """Text that is shown as it is wherever it stands in the page.

    >>> escape("<b onclick='x'>${a}")
    '&lt;b onclick=&#x27;x&#x27;&gt;&#36;&#123;a&#125;'
    """
    return html.escape(text).translate(_VISIBLE)


def shorten(text: str, most: int) -> str:
    """The beginning of a long text.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def problem(message: str) -> str:
    """What is wrong with what was given; the message is escaped already."""
    return f"<p class='mm-problem' role='alert'>{message}</p>"


def note(text: str) -> str:
    """A sentence in small print."""
    return f"<p class='mm-note' role='status'>{escape(text)}</p>"


def preview(side: TextSet, most: int = _PREVIEW_ROWS) -> str:
    """How many texts a set has, how long they are, and the first ones, this many at most."""
    words = [len(text.split()) for text in side.texts]
    empty = sum(not text.strip() for text in side.texts)
    parts = [f"<strong>{len(side.texts)} texts</strong> from {escape(shorten(side.name, 60))}"]
    if side.column is not None:
        parts.append(f"column <em>{escape(shorten(side.column, 60))}</em>")
    if words:
        parts.append(f"{statistics.median(words):.0f} words in the median, {min(words)} to {max(words)}")
    if empty:
        parts.append(f"{empty} of them empty (see “empty texts” in the options)")
    rows = "".join(f"<li>{_text(text, _PREVIEW_CHARACTERS)}</li>" for text in side.texts[:most])
    return f"<p class='mm-note'>{'; '.join(parts)}</p><ol class='mm-texts'>{rows}</ol>"


def _text(text: str, most: int) -> str:
    return f"<span dir='auto'>{escape(shorten(text, most))}</span>"


def warnings_list(found: Sequence[tuple[str, ScoreWarning]]) -> str:
    """What to know before believing the scores, and which models it is about; empty if nothing."""
    if not found:
        return ""
    rows = "".join(
        f"<li>{escape(f'{who}: ' if who else '')}{escape(warning.message)} <code>{escape(warning.code)}</code></li>"
        for who, warning in found
    )
    return f"<div class='mm-warnings'><h3>Before you believe it</h3><ul>{rows}</ul></div>"


def headline(result: MauveResult) -> str:
    """The score in large letters and what it means."""
    interval = ""
    if result.mauve_ci is not None and result.mauve_debiased is not None:
        low, high = result.mauve_ci
        interval = f"Without the bias of sampling: {result.mauve_debiased:.4f}, between {low:.4f} and {high:.4f} "
        interval += f"({result.ci_scope}). "
    return (
        f"<p class='mm-score'>MAUVE <strong>{result.mauve:.4f}</strong></p>"
        f"<p class='mm-verdict'>{verdict(result)}</p>"
        f"<p class='mm-note'>{interval}Two human sets of these sizes would score about {result.mauve_ceiling:.4f}, "
        f"sets with nothing in common {result.mauve_floor:.4f}.</p>"
    )


def verdict(result: MauveResult) -> str:
    """Whether the two sets differ by more than chance, and if so, in which direction."""
    if result.mauve_ci is None:
        return "There are too few texts to say whether the two sets differ."
    if result.mauve >= result.mauve_ceiling or result.mauve_ci[1] >= 1:
        return "As far as these texts can tell, the two sets do not differ."
    return f"The two sets differ by more than chance. {direction(result)}"


def direction(result: MauveResult, even: float = 0.05) -> str:
    """In which direction the model fails; `even`: a smaller difference is none."""
    if result.precision is None or result.recall is None:
        quality, coverage, names = result.prd_precision, result.prd_recall, "PRD"
    else:
        quality, coverage, names = result.precision, result.recall, "k-NN"
    values = f"({names} precision {quality:.2f}, recall {coverage:.2f})"
    if abs(quality - coverage) < even:
        return f"Quality and coverage are about even {values}."
    if quality < coverage:
        return f"Quality is the weaker side: the model writes what no human here would {values}."
    return f"Coverage is the weaker side: the model misses what humans here write {values}."


def scores_panel(result: MauveResult, model: str | None = None) -> str:
    """Every score that was computed, with its direction and meaning; of one of several models under its name."""
    rows = []
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            cells = f"<td class='mm-number'>{value:.4f}</td><td>{score.better} is better</td><td>{score.meaning}</td>"
            rows.append(f"<tr><th scope='row'>{html.escape(score.title)}</th>{cells}</tr>")
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("score", "value", "direction", "meaning"))
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    title = "" if model is None else f"<p class='mm-note'>{escape(model)}, on the buckets that all models share</p>"
    return f"{title}<div class='mm-wide'><table class='mm-table'>{table}</table></div>"


def comparison_headline(comparison: Comparison) -> str:
    """Which model is closest, which differences are real, and what all rests on."""
    result = next(iter(comparison.models.values()))
    level = f"{100 * comparison.confidence_level:g} %"
    rests = f"{len(comparison.models)} models against {result.n_p} human texts; {result.num_buckets} buckets common to "
    rests += f"all; intervals: {level}, {result.ci_scope}."
    best = comparison.ranking[0]
    alike = [item.b for item in comparison.differences if item.a == best and not item.real]
    others = "any other model" if 1 < len(alike) == len(comparison.models) - 1 else ", ".join(alike)
    doubt = f"<span class='mm-verdict'>, not told apart from {escape(others)}</span>" if alike else ""
    words = f"<p class='mm-verdict'>{escape(ranking_verdict(comparison))}</p><p class='mm-note'>{escape(rests)}</p>"
    return f"<p class='mm-score'>Closest: <strong>{escape(best)}</strong>{doubt}</p>{words}"


def comparison_tables(comparison: Comparison) -> str:
    """The scores of all models and the differences of all pairs; those that are real are bold."""
    models = _table(tables.MODEL_COLUMNS, tables.model_rows(comparison))
    notes = "".join(f"<p class='mm-note'>{escape(text)}</p>" for text in NOTES)
    differences = _table(tables.DIFFERENCE_COLUMNS, tables.difference_rows(comparison))
    words = f"<p class='mm-note'>{escape(forecast_sentence(comparison))}</p>"
    return f"<h3>Models</h3>{models}{notes}<h3>Differences: bold if real</h3>{differences}{words}"


def _table(columns: Sequence[tables.Column], rows: Sequence[tables.Row]) -> str:
    kinds = ["" if column.form == "s" else " class='mm-number'" for column in columns]
    head = "".join(
        f"<th scope='col'{kind}>{escape(column.title)}</th>" for column, kind in zip(columns, kinds, strict=True)
    )
    lines = []
    for row in rows:
        cells = "".join(
            f"<td{kind}>{escape(words.cell(row[column.key], column.form))}</td>"
            for column, kind in zip(columns, kinds, strict=True)
        )
        real = " class='mm-real'" if row.get("real") == "yes" else ""
        lines.append(f"<tr{real}>{cells}</tr>")
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f"<div class='mm-wide'><table class='mm-table'>{table}</table></div>"


def bucket_choices(explanation: Explanation, level: float) -> list[tuple[str, int]]:
    """The buckets with texts, by their part of the gap: what to show, and the number."""
    result, parts = explanation.result, explanation.contributions
    p = np.bincount(result.p_labels, minlength=result.num_buckets)
    q = np.bincount(result.q_labels, minlength=result.num_buckets)
    difference = result.p_hist - result.q_hist
    choices = []
    for bucket in np.argsort(-parts, kind="stable").tolist():
        if p[bucket] + q[bucket] > 0:
            kind = "missed" if difference[bucket] > 0 else "too much" if difference[bucket] < 0 else "even"
            share = 100 * parts[bucket] / explanation.gap if explanation.gap > 0 else 0.0
            noise = ", could be noise" if explanation.p_values[bucket] > 1 - level else ""
            words = f"{kind}, {share:.1f} % of the gap, {p[bucket]} human and {q[bucket]} model texts{noise}"
            choices.append((f"bucket {bucket}: {words}", bucket))
    return choices


def bucket_panel(bucket: GapBucket, sizes: tuple[int, int]) -> str:
    """What a bucket is about, and the texts of both sides that are nearest to its centre.

    Args:
        bucket: with all texts by their distance from the centre.
        sizes: texts of the human set and of the model's.
    """
    facts = "".join(f"<li><b>{escape(name)}:</b> {escape(value)}</li>" for name, value in words.bucket_facts(bucket))
    sides = [
        _bucket_side("Human", bucket.p_texts, bucket.p_count, sizes[0]),
        _bucket_side("Model", bucket.q_texts, bucket.q_count, sizes[1]),
    ]
    title = f"<h4>{escape(words.bucket_title(bucket))}</h4><ul class='mm-facts'>{facts}</ul>"
    return f"{title}<div class='mm-sides'>{''.join(sides)}</div>"


def _bucket_side(title: str, near: Sequence[NearText], count: int, size: int) -> str:
    inside = [text for text in near if text.in_bucket][:_BUCKET_TEXTS]
    outside = [] if count else near[:_NEAREST_OUTSIDE]
    more = f", the {_BUCKET_TEXTS} nearest to the centre" if count > _BUCKET_TEXTS else ""
    items = "".join(f"<li>{_text(text.text or '', _BUCKET_CHARACTERS)}</li>" for text in [*inside, *outside])
    lead = "" if count else "<p class='mm-note'>None here; outside, the nearest are:</p>"
    head = f"<h4>{title}: {count} of {size} texts{more}</h4>{lead}"
    return f"<section>{head}<ul class='mm-texts'>{items}</ul></section>"
