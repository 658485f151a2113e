"""HTML of the page: everything that a visitor wrote is escaped here, and nowhere becomes anything but text."""

from __future__ import annotations

import html
import statistics
from collections.abc import Sequence

import numpy as np

from mauve_metric.result import MauveResult
from mauve_metric.scores import SCORES
from mauve_metric.space.uploads import TextSet

_PREVIEW_ROWS = 3
_PREVIEW_CHARACTERS = 160
_BUCKET_TEXTS = 12
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


# --- what comes in ------------------------------------------------------------------------------------------------


def preview(side: TextSet) -> str:
    """How many texts a side has, how long they are, and the first ones."""
    words = [len(text.split()) for text in side.texts]
    empty = sum(not text.strip() for text in side.texts)
    parts = [f"<strong>{len(side.texts)} texts</strong> from {escape(shorten(side.name, 60))}"]
    if side.column is not None:
        parts.append(f"column <em>{escape(shorten(side.column, 60))}</em>")
    if words:
        parts.append(f"{statistics.median(words):.0f} words in the median, {min(words)} to {max(words)}")
    if empty:
        parts.append(f"{empty} of them empty (see “empty texts” in the options)")
    rows = "".join(f"<li>{_text(text, _PREVIEW_CHARACTERS)}</li>" for text in side.texts[:_PREVIEW_ROWS])
    return f"<p class='mm-note'>{'; '.join(parts)}</p><ol class='mm-texts'>{rows}</ol>"


def _text(text: str, most: int) -> str:
    return f"<span dir='auto'>{escape(shorten(text, most))}</span>"


# --- what goes out ------------------------------------------------------------------------------------------------


def warnings_list(result: MauveResult) -> str:
    """What to know before believing the score; empty if nothing."""
    if not result.warnings:
        return ""
    rows = "".join(
        f"<li>{escape(warning.message)} <code>{escape(warning.code)}</code></li>" for warning in result.warnings
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


def score_table(result: MauveResult) -> str:
    """Every score that was computed, with its direction and meaning."""
    rows = []
    for name, score in SCORES.items():
        value = getattr(result, name)
        if value is not None:
            cells = f"<td class='mm-number'>{value:.4f}</td><td>{score.better} is better</td><td>{score.meaning}</td>"
            rows.append(f"<tr><th scope='row'>{html.escape(score.title)}</th>{cells}</tr>")
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("score", "value", "direction", "meaning"))
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<div class='mm-wide'><table class='mm-table'>{table}</table></div>"


# --- buckets ------------------------------------------------------------------------------------------------------


def bucket_choices(result: MauveResult) -> list[tuple[str, int]]:
    """The buckets with texts, by how far the two sets differ there: what to show, and the number."""
    p = np.bincount(result.p_labels, minlength=result.num_buckets)
    q = np.bincount(result.q_labels, minlength=result.num_buckets)
    difference = result.p_hist - result.q_hist
    choices = []
    for bucket in np.argsort(-np.abs(difference), kind="stable").tolist():
        if p[bucket] + q[bucket] > 0:
            kind = "missed" if difference[bucket] > 0 else "filled too much" if difference[bucket] < 0 else "even"
            choices.append((f"bucket {bucket}: {p[bucket]} human, {q[bucket]} model ({kind})", bucket))
    return choices


def bucket_texts(result: MauveResult, bucket: int, p_text: Sequence[str], q_text: Sequence[str]) -> str:
    """The texts of a bucket, both sides beside each other."""
    sides = []
    for title, texts, labels in (("Human", p_text, result.p_labels), ("Model", q_text, result.q_labels)):
        rows = np.flatnonzero(labels == bucket).tolist()
        items = "".join(f"<li>{_text(texts[row], _BUCKET_CHARACTERS)}</li>" for row in rows[:_BUCKET_TEXTS])
        more = f", the first {_BUCKET_TEXTS}" if len(rows) > _BUCKET_TEXTS else ""
        body = f"<ul class='mm-texts'>{items}</ul>" if items else "<p class='mm-note'>none</p>"
        sides.append(f"<section><h4>{title}: {len(rows)} of {len(texts)} texts{more}</h4>{body}</section>")
    return f"<div class='mm-sides'>{''.join(sides)}</div>"
