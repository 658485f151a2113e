"""The values of the outputs that show a result, by their names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gradio as gr
import numpy as np
from gradio.components.plot import PlotData

from mauve_metric.arrays import Array
from mauve_metric.clustering.projection import unit_rows
from mauve_metric.features.row_blocks import all_rows
from mauve_metric.hosts.space.session.opened_result import Opened
from mauve_metric.hosts.space.session.scoring import Scored
from mauve_metric.hosts.space.session.sessions import Shown
from mauve_metric.hosts.space.view import markup, takeaway
from mauve_metric.hosts.space.view.headline import asks_for_alignment, result_html
from mauve_metric.hosts.space.view.text_map import map_chart
from mauve_metric.hosts.stored_results import AS_STORED
from mauve_metric.report.charts import of_comparison, of_result
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.explanation import NearText, ScoredText
from mauve_metric.runtime.plain_text import printable
from mauve_metric.runtime.tensors import on_cpu

if TYPE_CHECKING:
    import altair as alt

CURVES = ("divergence_curve", "divergence_curve_reading", "precision_recall", "precision_recall_reading")
# those of the picked model
OF_MODEL = ("score", *CURVES, "pair", "contributions", "bucket", "bucket_texts", "histogram", "table")
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # of gradio's Vega-Lite, which reads what Altair writes
MEASURES = ("measures_stale", "measures_status", "measures", "files")  # those that measures change
ANSWER = ("link_problems", "status", "stale", "about", "aligned_here", "result", "warnings", "shared_link")
PICTURES = ("all_curves", "all_precision_recall", "text_map", *OF_MODEL)
EXPERTS = ("tables", "play_part", "play_note", "every_measure", "signature", "python", "shell", "away")
RESULT = (*ANSWER, *PICTURES, *EXPERTS, *MEASURES)  # those that show a result
BUCKET_LINK = "#bucket-"  # target of a click in a figure; the page listens for it


def result_values(shown: Shown, points: int) -> dict[str, object]:
    """The values of all outputs that show a result; points: drawn in the map at most."""
    scored = shown.scored
    result = scored.result
    charts: list[alt.LayerChart | None] = [None, None]
    if isinstance(result, Comparison):
        charts = [of_comparison.curves_chart(result), of_comparison.precision_recall_curves_chart(result)]
        tables = markup.comparison_tables(result)
    else:
        tables = markup.verdicts(result)
    values: dict[str, object] = {
        "signature": result.signature,
        "tables": tables,
        "all_curves": plot_value(charts[0], True),
        "all_precision_recall": plot_value(charts[1], True),
        "warnings": markup.warnings_list(markup.warnings_of(result)),
        "result": gr.update(visible=True),
        "aligned_here": gr.update(visible=asks_for_alignment(scored.results.values()), value=False),
        "about": markup.notice("about", result=scored.results[shown.picked], model=shown.picked)
        if shown.example
        else "",
        "stale": "",
        "link_problems": "",
        "shared_link": gr.update(visible=False),  # to the result before
        "play_note": "",
        "play_part": gr.update(visible=isinstance(scored, Scored)),
        "away": gr.update(visible=isinstance(scored, Scored)),
        "every_measure": gr.update(visible=isinstance(scored, Scored)),
    }
    if isinstance(scored, Scored):
        inputs = shown.human, shown.models, shown.options, scored.aligned
        values["text_map"] = plot_value(text_map(scored, points, BUCKET_LINK))
        values |= {"python": takeaway.python_code(*inputs), "shell": takeaway.shell_code(*inputs)}
    else:
        values |= {"text_map": None, "python": "", "shell": ""}
    values |= of_model_values(shown) | measures_values(shown)
    values["status"] = markup.arrived(str(values["score"]))
    return values


def plot_value(chart: alt.TopLevelMixin | None, square: bool = False) -> PlotData | None:
    """The value of a chart for its place; square: it keeps its shape (class "mm-square")."""
    return None if chart is None else PlotData(type="altair", plot=json.dumps(page_spec(chart, square=square)))


def of_model_values(shown: Shown, bucket: int | None = None) -> dict[str, object]:
    """The values of the outputs of `OF_MODEL` by their names; bucket: the one shown, None: the largest."""
    scored, name = shown.scored, shown.picked
    explanation, result = scored.explain(name), scored.results[name]
    buckets = markup.bucket_choices(explanation, scored.resolved.confidence_level)
    shown.bucket = bucket = buckets[0][1] if bucket is None else bucket
    if bucket not in (number for _, number in buckets):
        raise ValueError("there is no such bucket any more: compare again")
    return {
        "score": result_html(scored.result, name),
        **curve_values(shown),
        "pair": pair_html(shown),
        "contributions": plot_value(of_comparison.contributions_chart(explanation, link=BUCKET_LINK)),
        "bucket": gr.update(choices=buckets, value=bucket),
        "bucket_texts": bucket_html(shown, bucket),
        "histogram": plot_value(of_result.histogram_chart(result, model_index=scored.best_first.index(name))),
        "table": markup.scores_panel(
            result, None if scored.comparison is None else name, AS_STORED if isinstance(scored, Opened) else ()
        ),
    }


def curve_values(shown: Shown) -> dict[str, object]:
    """The values of the outputs of `CURVES`: both curves of the picked model, and how to read them."""
    scored = shown.scored
    result, index = scored.results[shown.picked], scored.best_first.index(shown.picked)
    named = "MAUVE" if scored.comparison is None else "MAUVE on shared buckets"
    several = scored.result.by_featurizer
    seen = f" Both figures are seen by {next(iter(several))}." if len(several) > 1 else ""
    readings = of_result.divergence_curve_reading(result), of_result.precision_recall_reading(result)
    return {
        "divergence_curve": plot_value(of_result.divergence_curve_chart(result, index, named), True),
        "divergence_curve_reading": markup.notice("reading", said=f"{readings[0]}{seen}"),
        "precision_recall": plot_value(of_result.precision_recall_chart(result, index), True),
        "precision_recall_reading": markup.notice("reading", said=readings[1]),
    }


def measures_values(shown: Shown) -> dict[str, object]:
    """The values of the outputs of `MEASURES` by their names; files made earlier are removed."""
    return {
        "measures_stale": measures_notice(shown),
        "measures_status": "",
        "measures": "" if shown.measured is None else markup.measures_table(shown.measured),
        "files": gr.update(value=None, visible=False),
    }


def measures_notice(shown: Shown | None, inputs: bool = False) -> str:
    """Notice that inputs or settings changed since the measures were computed, else ""."""
    if shown is None or shown.measured is None or (fits(shown) and not inputs):
        return ""
    return markup.notice("measures_stale", inputs=inputs)


def fits(shown: Shown) -> bool:
    """Return whether there are measures, and they belong to the shown result."""
    return shown.measured is not None and shown.measured_of is shown.scored


def bucket_html(shown: Shown, bucket: int) -> str:
    """The texts in a bucket of the picked model."""
    if isinstance(shown.scored, Opened):
        return markup.notice("no_texts")
    result = shown.scored.results[shown.picked]
    described = shown.scored.explain(shown.picked, [int(bucket)], max(result.n_p, result.n_q)).buckets[0]
    return markup.bucket_panel(described, (result.n_p, result.n_q), result.reference_name)


def pair_html(shown: Shown) -> str:
    """A human text beside one of the picked model, from the ends of the classifier, else from the largest bucket."""
    scored, name = shown.scored, shown.picked
    if isinstance(scored, Opened):
        return ""
    explanation, phrases = scored.explain_learned(name), scored.phrases(name)
    human: Sequence[ScoredText | NearText] = explanation.most_human
    model: Sequence[ScoredText | NearText] = explanation.most_model
    if not human:
        (bucket,) = scored.explain(name, 1, 1).buckets
        human, model = bucket.p_texts, bucket.q_texts
    return markup.pair_panel(explanation, human, model, phrases, "the model" if scored.comparison is None else name)


def text_map(scored: Scored, most: int, link: str | None = None) -> alt.LayerChart:
    """Human texts and those of every model on their first two principal components (see `text_map.map_chart`).

    The models come in the order of the ranking, so that they have the colours of the other figures.

    Args:
        scored: what is known of the models.
        most: points that are drawn.
        link: see `map_chart`.
    """
    evaluation, names = scored.evaluation, list(scored.results)
    partition = evaluation.partition
    rows = [on_cpu(part) for part in partition.rows]
    order = [0, *(names.index(name) + 1 for name in scored.best_first)]
    return map_chart(
        [f"{printable(scored.result.reference_name)} texts", *scored.best_first],
        [rows[number] for number in order],
        [partition.labels[0][number] for number in order],
        [evaluation.texts[number] or [] for number in order],
        variance_shares(rows, [all_rows(side.features) for side in evaluation.declared]),
        most=most,
        link=link,
    )


def variance_shares(rows: Sequence[Array], features: Sequence[Array]) -> tuple[float, float]:
    """The shares of the variance of the features, scaled to length 1, in the first two projected columns.

    >>> from mauve_metric.clustering.projection import unit_rows
    >>> features = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 1.0], [1.0, 0.0]])
    >>> [round(share, 6) for share in variance_shares([unit_rows(features)], [features[:2], features[2:]])]
    [0.5, 0.5]
    """
    variance = np.concatenate([unit_rows(part) for part in features]).var(axis=0, dtype=np.float64).sum()
    along = [*np.concatenate([part[:, :2] for part in rows]).var(axis=0, dtype=np.float64), 0.0]
    first, second = (float(np.clip(value / variance, 0, 1)) if variance > 0 else 0.0 for value in along[:2])
    return first, second


def page_spec(chart: alt.TopLevelMixin, square: bool = False) -> dict[str, Any]:
    """The Vega-Lite of a figure for a page with gradio's Vega-Embed: as SVG, which style sheets and scripts reach.

    Args:
        chart: with a description, which is read out instead of what is drawn.
        square: whether it keeps its size, for the style sheet to scale; else it takes the width that there is.
    """
    spec: dict[str, Any] = chart.to_dict(validate=False)  # the tests check every figure
    if not square:
        spec["width"] = "container"
    spec["$schema"] = _SCHEMA
    spec["padding"] = 8  # a mark at an end of an axis is whole
    spec["config"] = spec.get("config", {}) | {"aria": False}
    spec["usermeta"] = {"embedOptions": {"renderer": "svg", "actions": False}}
    for part in (spec, *spec.get("layer", ())):
        shown = part.get("encoding", {}).get("color", {}).get("legend")  # Vega-Lite joins the others' legends to it
        if shown:
            shown["encoding"] = {"labels": {"tooltip": {"value": {"signal": "datum.value"}}}}
    return spec
