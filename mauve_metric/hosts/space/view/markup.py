"""HTML of the page, from templates, and its notices; every value is escaped, so that it is shown as text."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Container, Sequence

import jinja2
import numpy as np
from markupsafe import Markup

from mauve_metric.apps.describing.catalogue.all_measures import MEASURES
from mauve_metric.apps.describing.description import Description
from mauve_metric.hosts.flags_and_labels import ALIGNED, PAGE, label_of
from mauve_metric.hosts.space.session.uploads import TextSet, every_text
from mauve_metric.hosts.space.view.settings import PLAY, panel_names
from mauve_metric.options import HUMAN
from mauve_metric.report.document import Prose, Table
from mauve_metric.report.first_screen import featurizers_table
from mauve_metric.report.wording import words
from mauve_metric.report.wording.words import with_reference
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import Explanation, GapBucket, NearText, ScoredText
from mauve_metric.results.result import MauveResult
from mauve_metric.results.scores import SCORES
from mauve_metric.runtime.plain_text import cell, digits, is_blank, percent, printable
from mauve_metric.uncertainty.score_warnings import ScoreWarning

_PREVIEW_ROWS = 3
_BUCKET_TEXTS = 12
_PAIR_CHARACTERS = 330  # shown of the text of either side on the first screen
_TEXT_CHARACTERS = 700  # shown of a text in a bucket
_NEAREST_OUTSIDE = 3  # texts shown of a side that has none in a bucket
_BIDI_CONTROLS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# `{`, `$` and the backtick mean something in the templates of gr.HTML; controls and direction marks are made visible
_VISIBLE = {code: f"&#x{code + 0x2400:x};" for code in range(32) if chr(code) not in "\t\n\r"} | {
    **{ord(mark): f"[U+{ord(mark):04X}]" for mark in _BIDI_CONTROLS},
    **{ord(mark): f"&#{ord(mark)};" for mark in "{}$`"},
}


def escape(text: object) -> Markup:
    """Escape a value for a template: it is shown unchanged anywhere in the page.

    >>> str(escape("<b onclick='x'>${a}"))
    '&lt;b onclick=&#39;x&#39;&gt;&#36;&#123;a&#125;'
    """
    return text if isinstance(text, Markup) else Markup(str(Markup.escape(text)).translate(_VISIBLE))


def in_controls(message: str, argument: str | None = None) -> str:
    """A message of the library, escaped, with options named by their controls.

    >>> in_controls("strip must be a list", "strip")
    'Strip must be a list'
    """
    return str(escape(PAGE.respell(message, argument)))


CONTROL_LINK = "#control/"  # target of a click on the name of a control; the page listens for it
PANELS = {  # by the label of a control, the panels that hold it, and its own name
    **{label_of(name): f"choices/options/{name}" for name in panel_names()},
    **{label_of(name): f"experts/{name}" for name in PLAY},
    ALIGNED: "choices/aligned",
}
_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("mauve_metric.hosts.space.view"),
    autoescape=True,
    finalize=escape,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def with_links(message: str) -> Markup:
    """A message as `in_controls`, with links that open the panels which hold the controls that it names.

    >>> print(with_links("add aligned=True"))
    tick “<a href='#control/choices/aligned'>Rows are aligned</a>”
    """

    def link(match: re.Match[str]) -> str:
        path = PANELS.get(match[1])
        return match[0] if path is None else f"“<a href='{CONTROL_LINK}{path}'>{match[1]}</a>”"

    said = re.sub("“([^”]+)”", link, in_controls(message))
    others = f"ick <a href='{CONTROL_LINK}choices/featurizers'>ngrams in the options</a>"
    return Markup(said.replace("ick ngrams in the options", others))


_TEMPLATES.filters |= {"digits": digits, "cell": cell, "controls": with_links}


def render(name: str, kind: str = "html", /, **values: object) -> str:
    """The template of this name with these values, all of them escaped."""
    return _TEMPLATES.get_template(f"{name}.{kind}").render(values)


def notice(name: str, /, **values: object) -> str:
    """The notice of this name, a macro of `notices.html`, with these values."""
    return str(getattr(_TEMPLATES.get_template("notices.html").module, name)(**values))


def problem(message: str) -> str:
    """A problem with the inputs; the message is escaped already."""
    return f"<p class='mm-problem' role='alert'>{message}</p>"


def note(text: str) -> str:
    """A sentence in small print."""
    return f"<p class='mm-note' role='status'>{escape(text)}</p>"


def preview(side: TextSet, most: int = _PREVIEW_ROWS) -> str:
    """The number and lengths of the texts of a set, and the first ones, this many at most."""
    lengths = [len(text.split()) for text in side.texts]
    median = f"{statistics.median(lengths):.0f}" if lengths else None
    empty = sum(map(is_blank, side.texts))
    sample = every_text(side.every) if side.every > 1 else ""
    return render("preview", side=side, sample=sample, most=most, words=lengths, median=median, empty=empty)


def warnings_list(warnings: Sequence[tuple[str, ScoreWarning]]) -> str:
    """The warnings, severe ones first, folded under their number; empty if there are none."""
    warnings = sorted(warnings, key=lambda warning: not warning[1].severe)
    return render("warnings", found=warnings, title=words.many_warnings(len(warnings))) if warnings else ""


def warnings_of(result: MauveResult | Comparison) -> list[tuple[str, ScoreWarning]]:
    """All warnings, with the models or the featurizer that they are about."""
    return words.collected_warnings(result) if isinstance(result, Comparison) else words.result_warnings(result)


def scores_panel(result: MauveResult, model: str | None = None, as_stored: Container[str] = ()) -> str:
    """Every score that was computed, with its direction and meaning; of one of several models under its name.

    as_stored: names of scores that were only read from a file, and are marked.
    """
    values = [(score, getattr(result, name), name in as_stored) for name, score in SCORES.items()]
    scores = [entry for entry in values if entry[1] is not None]
    names = {"named": with_reference, "reference": result.reference_name}
    return render("scores", scores=scores, facts=words.facts(result), model=model, **names)


def verdicts(result: MauveResult) -> str:
    """Sentences on further scores, and the table of several featurizers."""
    said = [words.learned_sentence(result)]
    each = result.by_featurizer
    table = render("featurizers", table=featurizers_table(result)) if each else ""
    return render("sentences", sentences=said) + table


def comparison_tables(comparison: Comparison) -> str:
    """All scores of several models and the differences of all pairs; real ones are bold."""
    document = comparison.document()
    return render(
        "comparison_tables",
        models=document.first_table,
        tables=document.tables,
        notes=words.notes(comparison),
        runs_title=words.RUNS_DIFFERENCES,
        learned_title=words.LEARNED_DIFFERENCES,
        difference_note=words.DIFFERENCE_NOTE if len(comparison.differences) > 1 else "",
        forecast=words.forecast_sentence(comparison),
    )


def measures_table(description: Description) -> str:
    """Every measure of the human texts and of the models, by groups, with what each means and what is missing."""
    parts, shown = description.document().shown("html"), []
    table = next(part for part in parts if isinstance(part, Table))
    for name, row in zip(description.measures, table.rows, strict=True):
        measure = MEASURES[name]
        group = "scores" if measure.in_result else measure.group
        shown.append({"group": group, "title": measure.title, "meaning": measure.meaning, "row": row})
    return render(
        "measures",
        columns=table.columns,
        groups=[(group, list(rows)) for group, rows in itertools.groupby(shown, lambda entry: entry["group"])],
        notes=[line.text for part in parts if isinstance(part, Prose) for line in part.texts],
        signature=description.signature,
    )


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
            share = percent(float(parts[bucket]), explanation.gap)
            noise = ", could be noise" if explanation.p_values[bucket] > 1 - level else ""
            counts = f"{p[bucket]} {printable(result.reference_name)} and {q[bucket]} model texts"
            about = f"{kind}, {share} of the gap, {counts}{noise}"
            choices.append((f"bucket {bucket}: {about}", bucket))
    return choices


def bucket_panel(bucket: GapBucket, sizes: tuple[int, int], name: str = HUMAN) -> str:
    """The subject of a bucket, and the texts of both sides that are nearest to its centre.

    Args:
        bucket: with all texts by their distance from the centre.
        sizes: texts of the human set and of the model's. name: of the reference texts.
    """
    phrases, sides = bucket.telling, []
    texts_and_counts = (bucket.p_texts, bucket.p_count), (bucket.q_texts, bucket.q_count)
    for side, (near, count), size in zip(("human", "model"), texts_and_counts, sizes, strict=True):
        texts = [text.text or "" for text in near if text.in_bucket][:_BUCKET_TEXTS]
        if not count:  # the nearest outside
            texts = [text.text or "" for text in near[:_NEAREST_OUTSIDE]]
        marked = [words.marked(text, phrases[side], _TEXT_CHARACTERS) for text in texts]
        title = side.capitalize() if side == "model" or name == HUMAN else name
        sides.append(
            {"side": side, "title": title, "count": count, "size": size, "most": _BUCKET_TEXTS, "texts": marked}
        )
    legend = with_reference(words.LEGEND, name) if any(phrases.values()) else ""
    title, facts = with_reference(bucket.title, name), words.bucket_facts(bucket, name)
    return render("bucket", title=title, facts=facts, legend=legend, sides=sides)


def pair_panel(
    explanation: Explanation,
    human: Sequence[ScoredText | NearText],
    model: Sequence[ScoredText | NearText],
    phrases: tuple[Sequence[str], Sequence[str]],
    name: str = "the model",
) -> str:
    """A human text beside one of the model, of each side's candidates the one with most marked phrases.

    Folded under them, the other evidence of the classifier behind the learned score.
    """
    sides = []
    for side, texts, telling in zip(("human", "model"), (human, model), phrases, strict=True):
        shown = [words.marked(text.text or "", telling, _PAIR_CHARACTERS) for text in texts]
        sides.append((side, max(shown, key=lambda pieces: sum(piece.marked for piece in pieces), default=[])))
    return render(
        "pair",
        sides=sides,
        model=name,
        marked=any(piece.marked for _, pieces in sides for piece in pieces),
        learned=explanation,
        most=_TEXT_CHARACTERS,
        normalised=words.learned_sentence(explanation.result) if explanation.result.normalised else "",
        wording=words,
        reference=explanation.result.reference_name,
        named=with_reference,
    )


def arrived(headline: str) -> str:
    """Notice that the result is computed, with its headline as one line for screen readers.

    >>> arrived("<p class='mm-answer'>Far.</p> <p>So.</p> <p class='mm-score'>MAUVE <strong>0.5</strong></p>")
    "<p class='mm-note' data-result='yes'>The result is there: Far. MAUVE 0.5.</p>"
    """
    lines = re.findall(r"<p class='mm-(?:answer|score)(?: mm-doubt)?'>(.*?)</p>", headline, re.DOTALL)
    texts = [Markup(line).striptags() for line in lines]
    said = " ".join(text if text.endswith((".", ":")) else f"{text}." for text in texts if text)
    return f"<p class='mm-note' data-result='yes'>The result is there: {escape(said)}</p>"
