"""A map of texts: all sets on the first two principal components, the human texts grey, one colour a model."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np

from mauve_metric.arrays import Array, Labels
from mauve_metric.results.charts.figure import COLORS, HUMAN, SHAPES, ChartRows, cycle, heading, legend
from mauve_metric.results.names import figure_text, shown_names
from mauve_metric.results.wording.words import EXCERPT, excerpt

_HUMAN_SHAPE = "circle"
_READ = 4 * EXCERPT  # characters of a text from which its beginning is taken


def map_chart(
    names: Sequence[str],
    rows: Sequence[Array],
    labels: Sequence[Labels],
    texts: Sequence[Sequence[str]],
    shares: tuple[float, float],
    *,
    most: int = 3000,
    seed: int = 25,
    link: str | None = None,
    width: int = 720,
) -> alt.Chart:
    """Every text at its first two projected features; pointing at one shows how it begins.

    A click picks the texts of a bucket, one on the legend those of a set; a double click picks all again.

    Args:
        names: of the sets, the human texts first.
        rows: of each set, projected, (n_i, r). labels: its buckets, (n_i,). texts: its texts.
        shares: of the variance that the two components hold, in [0, 1].
        most: points drawn; of more texts a random subset is.
        seed: of that subset.
        link: a click on a text follows this address with the numbers of its bucket and of its set behind it and a
            hyphen between them; None: no link.
        width: of the plot, in pixels.
    """
    names = list(shown_names(_unique(names), figure_text).values())
    points, total = _points(names, rows, labels, texts, most, seed, link)
    models = len(names) - 1
    colors = alt.Scale(domain=names, range=[HUMAN, *cycle(COLORS, models)])
    shapes = alt.Scale(domain=names, range=[_HUMAN_SHAPE, *cycle(SHAPES, models)])
    bucket = alt.selection_point(name="bucket_picked", fields=["bucket"], on="click", clear="dblclick")
    picked = alt.selection_point(name="set_picked", fields=["set"], bind="legend")
    axis = alt.Axis(titleFontSize=12, titleFontWeight="normal", labels=False, ticks=False, grid=False)
    places = {}
    for number, (key, channel) in enumerate((("x", alt.X), ("y", alt.Y))):
        title = f"principal component {number + 1} ({100 * shares[number]:.0f} % of the variance)"
        places[key] = channel(f"{key}:Q", title=title, scale=alt.Scale(zero=False), axis=axis)
    symbols = legend(names)
    chart = (
        alt.Chart(alt.InlineData(values=points))
        .mark_point(filled=True, size=28)
        .encode(
            **places,
            color=alt.Color("set:N", scale=colors, sort=names, legend=symbols),
            shape=alt.Shape("set:N", scale=shapes, sort=names, legend=symbols),
            opacity=alt.condition(bucket & picked, alt.value(0.6), alt.value(0.06)),
            tooltip=[alt.Tooltip("set:N"), alt.Tooltip("bucket:Q", format="d"), alt.Tooltip("text:N")],
            **({} if link is None else {"href": "link:N"}),
        )
        .add_params(bucket, picked)
    )
    drawn = f"{len(points)} of {total} texts, drawn at random" if len(points) < total else f"all {total} texts"
    top = heading(
        "Map of the texts",
        drawn,
        "close texts are alike, as far as two components show it",
        "click a text: its bucket; a name: its set; twice: all",
    )
    sets = ", ".join(f"{name} ({len(part)})" for name, part in zip(names, texts, strict=True))
    description = f"Map of texts on two principal components, {drawn}: {sets}. The list of buckets leads to the texts."
    figure: alt.Chart = chart.properties(width=width, height=420, title=top, description=description)
    return figure


def _points(
    names: Sequence[str],
    rows: Sequence[Array],
    labels: Sequence[Labels],
    texts: Sequence[Sequence[str]],
    most: int,
    seed: int,
    link: str | None,
) -> tuple[ChartRows, int]:
    """Points in a random order, so that no set covers the others, and the number of all texts."""
    sizes = [len(part) for part in rows]
    starts = np.cumsum([0, *sizes])
    order = np.random.default_rng(seed).permutation(int(starts[-1]))[:most]
    points: ChartRows = []
    for place in order.tolist():
        which = int(np.searchsorted(starts, place, side="right")) - 1
        row = place - int(starts[which])
        x, y = (*rows[which][row, :2].tolist(), 0.0)[:2]
        bucket = int(labels[which][row])
        point = {"set": names[which], "bucket": bucket, "x": round(x, 4), "y": round(y, 4)}
        point["text"] = figure_text(excerpt(texts[which][row][:_READ]))
        points.append(point if link is None else point | {"link": f"{link}{bucket}-{which}"})
    return points, int(starts[-1])


def _unique(names: Sequence[str]) -> list[str]:
    """Names of the sets; the first gets a suffix if a model has the same name."""
    human = names[0]
    while human in names[1:]:
        human += " (reference)"
    return [human, *names[1:]]
