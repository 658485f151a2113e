"""A map of texts: all sets on the first two principal components, the human texts grey, one colour a model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt
import numpy as np
from scipy.ndimage import gaussian_filter

from mauve_metric.arrays import Array, Floats, Labels
from mauve_metric.report.charts import figure
from mauve_metric.runtime.plain_text import EXCERPT, excerpt, figure_text, shown_names

_TextSet = tuple[str, Array, Labels, Sequence[str]]  # name, projected rows, buckets, texts
_INSIDE = [0.5, 0.9]  # shares of a set within its lines
_GRID = 64  # cells of the density along either axis
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
) -> alt.LayerChart:
    """The texts of each set by their first two projected features; pointing at one shows how it begins.

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
    human = names[0]
    while human in names[1:]:
        human += " (reference)"  # a model has the same name
    names = list(shown_names([human, *names[1:]], figure_text).values())
    points = _points([*zip(names, rows, labels, texts, strict=True)], most, seed, link)
    total = sum(map(len, rows))
    models = len(names) - 1
    colors = alt.Scale(domain=names, range=[figure.HUMAN, *figure.cycle(figure.COLORS, models)])
    shapes = alt.Scale(domain=names, range=["circle", *figure.cycle(figure.SHAPES, models)])
    bucket = alt.selection_point(name="bucket_picked", fields=["bucket"], on="click", clear="dblclick")
    picked = alt.selection_point(name="set_picked", fields=["set"], bind="legend")
    axis = alt.Axis(**figure.BARE_AXIS)
    places: dict[str, Any] = {}
    for number, (key, channel) in enumerate((("x", alt.X), ("y", alt.Y))):
        title = f"principal component {number + 1} ({100 * shares[number]:.0f} % of the variance)"
        places[key] = channel(f"{key}:Q", title=title, scale=alt.Scale(zero=False), axis=axis)
    symbols = figure.legend(names)
    in_bucket = {"param": bucket.name, "empty": False, "value": 0.8}
    of_set = {"test": {"and": [{"param": bucket.name}, {"param": picked.name}]}, "value": 0.22}
    dots = figure.marks(points, "point", filled=True, size=24).encode(
        **places,
        color=alt.Color("set:N", scale=colors, sort=names, legend=symbols),
        shape=alt.Shape("set:N", scale=shapes, sort=names, legend=symbols),
        opacity=alt.OpacityValue(0.04, condition=[in_bucket, of_set]),
        tooltip=[alt.Tooltip("set:N"), alt.Tooltip("bucket:Q", format="d"), alt.Tooltip("text:N")],
        **({} if link is None else {"href": "link:N"}),
    )  # fmt: skip
    around = _contours(names, rows)
    lines = figure.marks(around, "line", strokeWidth=2, interpolate="linear-closed").encode(
        **places,
        color=alt.Color("set:N", scale=colors, sort=names),
        strokeDash=alt.StrokeDash("share:O", scale=alt.Scale(domain=_INSIDE, range=[[1, 0], [6, 4]]), legend=None),
        detail="loop:N",
        order="place:Q",
        opacity=alt.OpacityValue(0.1, condition={"param": picked.name, "value": 1}),
    )
    drawn = f"{len(points)} of {total} texts, drawn at random" if len(points) < total else f"all {total} texts"
    tops = [
        max((row for row in around if (row["set"], row["share"]) == (names[0], share)), key=lambda row: row["y"] or 0)
        | {"label": f"{words} of the {names[0]}"}
        for share, words in zip(_INSIDE, ("half", "nine in ten"), strict=True)
    ]
    named = figure.marks(tops, "text", dy=-7, fontSize=11).encode(**places, text="label:N")
    top = "Map of the texts", drawn, "click a text: its bucket; a name: its set; twice: all"
    sets = ", ".join(f"{name} ({len(part)})" for name, part in zip(names, texts, strict=True))
    description = f"Map of texts on two principal components, {drawn}: {sets}, with lines around half and around "
    description += "nine in ten of each set. The list of buckets leads to the texts."
    return figure.layered([dots.add_params(bucket, picked), lines, named], width, 420, top, description)


def _points(sets: Sequence[_TextSet], most: int, seed: int, link: str | None) -> figure.ChartRows:
    """Points in a random order, so that no set covers the others."""
    starts = np.cumsum([0, *(len(rows) for _, rows, *_ in sets)])
    order = np.random.default_rng(seed).permutation(int(starts[-1]))[:most]
    points: figure.ChartRows = []
    for position in order.tolist():
        which = int(np.searchsorted(starts, position, side="right")) - 1
        row, (name, rows, labels, texts) = position - int(starts[which]), sets[which]
        (x, y), bucket = (*rows[row, :2].tolist(), 0.0)[:2], int(labels[row])
        point = {"set": name, "bucket": bucket, "x": round(x, 4), "y": round(y, 4)}
        point["text"] = figure_text(excerpt(texts[row][:_READ]))
        points.append(point if link is None else point | {"link": f"{link}{bucket}-{which}"})
    return points


def _contours(names: Sequence[str], rows: Sequence[Array]) -> figure.ChartRows:
    """The vertices of the lines around the densest regions that hold the shares `_INSIDE` of each set."""
    places = [np.pad(part[:, :2], ((0, 0), (0, max(2 - part.shape[1], 0)))).astype(np.float64) for part in rows]
    low, high = (end([end(part, axis=0) for part in places], axis=0) for end in (np.min, np.max))
    margin = np.maximum(0.2 * (high - low), 1e-9)
    low, step = low - margin, (high - low + 2 * margin) / _GRID
    vertices_of_all: figure.ChartRows = []
    for name, part in zip(names, places, strict=True):
        ends = [(start, start + _GRID * size) for start, size in zip(low, step, strict=True)]
        width = part.std(axis=0) * len(part) ** (-1 / 6) / step  # Scott's rule, in cells
        counts, _, _ = np.histogram2d(part[:, 0], part[:, 1], bins=_GRID, range=ends)
        density = gaussian_filter(counts, np.maximum(width, 1))
        density = np.pad(density, 1)  # closes every line
        falling = np.sort(density, axis=None)[::-1]
        held = np.cumsum(falling) / falling.sum()
        for share in _INSIDE:
            level = float(falling[np.searchsorted(held, share)])
            for number, loop in enumerate(_loops(density, level)):
                vertices = enumerate((low + step * (loop - 0.5)).round(4).tolist())
                entry: figure.ChartRow = {"set": name, "share": share, "loop": f"{name} {share} {number}"}
                vertices_of_all += [entry | {"place": position, "x": x, "y": y} for position, (x, y) in vertices]
    return vertices_of_all


def _loops(values: Floats, level: float) -> Iterator[Floats]:
    """The closed lines at a level between the points of a grid whose edge is below it (marching squares), (n, 2)."""
    above = values > level
    beside: dict[tuple[tuple[int, int], ...], list[tuple[tuple[int, int], ...]]] = {}
    some = above[:-1, :-1], above[1:, :-1], above[:-1, 1:], above[1:, 1:]
    for row, column in np.argwhere(np.any(some, axis=0) & ~np.all(some, axis=0)).tolist():
        corners = [(row, column), (row, column + 1), (row + 1, column + 1), (row + 1, column), (row, column)]
        crossed = [tuple(sorted(pair)) for pair in itertools.pairwise(corners) if above[pair[0]] != above[pair[1]]]
        for first, second in zip(crossed[::2], crossed[1::2], strict=True):
            beside.setdefault(first, []).append(second)
            beside.setdefault(second, []).append(first)
    while beside:
        edge: tuple[tuple[int, int], ...] | None = next(iter(beside))
        loop = []
        while edge is not None:
            (low, high), following = edge, beside.pop(edge)
            part = (level - values[low]) / (values[high] - values[low])
            loop.append(np.add(low, part * np.subtract(high, low)))
            edge = next((other for other in following if other in beside), None)
        yield np.array(loop)
