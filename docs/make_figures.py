"""Draw the figures of the documentation: `python docs/make_figures.py [NAME …]`, into docs/figures/.

Each is drawn twice, for a light page and a dark one. Those of texts are computed from the examples with the packaged
featurizer, the picture of the layers from `pyproject.toml`. It needs the extras `[space]`, no network,
and a few minutes the first time, while the texts of five models are featurized.
"""

from __future__ import annotations

import argparse
import functools
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from mauve_metric import compare, compute_mauve, explain, featurize, human_baseline, read_texts
from mauve_metric.features.feature_set import FeatureSet
from mauve_metric.report.charts.figure import AXIS_STYLE, COLORS, LINE
from mauve_metric.report.charts.of_comparison import contributions_chart, forest_chart
from mauve_metric.report.charts.of_result import curves_chart, score_chart
from mauve_metric.results.comparison import Comparison
from mauve_metric.results.result import MauveResult

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES, FIGURES = ROOT / "examples", ROOT / "docs" / "figures"
MODELS = ("top_k", "nucleus", "sampling", "temperature", "greedy")
# Colours of text and lines on the site's two pages; the marks of a set have the same colour on both.
PAGES = {
    "light": {"text": "#1F1F1F", "line": "#6B6B6B", "grid": "#E8E8E8", "fill": "#F1ECFA"},
    "dark": {"text": "#E6E6EA", "line": "#A0A3AC", "grid": "#3A3D46", "fill": "#3A3350"},
}
GRID, FILL = str(AXIS_STYLE["gridColor"]), PAGES["light"]["fill"]
WIDTH = 640  # pixels of a wide figure
PHONE = 345  # of one that is not to shrink on a phone


@functools.cache
def of_texts(name: str) -> FeatureSet:
    """The features of an example, kept beside it or made here."""
    kept = EXAMPLES / f"{name}.npz"
    if kept.exists():
        return FeatureSet.load(kept)
    return featurize(read_texts(EXAMPLES / f"{name}.jsonl"), featurize_model_name="minilm")


@functools.cache
def one_model() -> MauveResult:
    """Nucleus sampling against the human texts."""
    return compute_mauve(p=of_texts("human"), q=of_texts("nucleus"))


@functools.cache
def five_models() -> Comparison:
    """Every way of decoding against the human texts, on common buckets."""
    return compare(p=of_texts("human"), models={name: of_texts(name) for name in MODELS})


def calibration() -> alt.LayerChart:
    """The score of two equal sets by their size."""
    rows = [
        {"texts": size.texts, "kind": kind, "mean": spread.mean, "low": spread.low, "high": spread.high}
        for size in human_baseline(p=of_texts("human"), splits=50, num_buckets=30).sizes
        for kind, spread in (("MAUVE", size.mauve), ("by groups", size.mauve_debiased))
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "texts:Q",
            title="texts a set",
            scale=alt.Scale(type="log", nice=False),
            axis=alt.Axis(values=sorted({row["texts"] for row in rows}), format="d", **AXIS_STYLE),
        ),
        color=alt.Color(
            "kind:N", scale=alt.Scale(range=list(COLORS[:2])), legend=alt.Legend(title=None, orient="bottom")
        ),
    )
    band = base.mark_area(opacity=0.2).encode(
        y=alt.Y("low:Q", title="score of two equal sets", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(**AXIS_STYLE)),
        y2="high:Q",
    )
    line = base.mark_line(point=True).encode(y="mean:Q")
    chart: alt.LayerChart = (band + line).properties(width=WIDTH - 120, height=260)
    return chart


def layers() -> alt.LayerChart:
    """The layers that the import rule names, from the top one down."""
    rows = [
        {"row": row, "place": place, "count": len(names), "name": name}
        for row, names in enumerate(layer_names())
        for place, name in enumerate(names)
    ]
    height, gap = 34, 8
    for item in rows:
        share = WIDTH / item["count"]
        item |= {"x": share * item["place"], "x2": share * (item["place"] + 1) - gap}
        item |= {"y": item["row"] * (height + gap), "y2": item["row"] * (height + gap) + height}
        item["middle_x"], item["middle_y"] = (item["x"] + item["x2"]) / 2, (item["y"] + item["y2"]) / 2
    bottom = max(item["y2"] for item in rows)
    across, down = alt.Scale(domain=[0, WIDTH], nice=False), alt.Scale(domain=[bottom, 0], nice=False)
    base = alt.Chart(alt.InlineData(values=rows))
    boxes = base.mark_rect(fill=FILL, stroke=LINE, cornerRadius=5).encode(
        x=alt.X("x:Q", scale=across, axis=None), x2="x2:Q", y=alt.Y("y:Q", scale=down, axis=None), y2="y2:Q"
    )
    words = base.mark_text(fontSize=12, limit=0).encode(
        x=alt.X("middle_x:Q", scale=across, axis=None), y=alt.Y("middle_y:Q", scale=down, axis=None), text="name:N"
    )
    chart: alt.LayerChart = (boxes + words).properties(width=WIDTH, height=bottom).configure_view(stroke=None)
    return chart


def layer_names() -> list[list[str]]:
    """The layers of the import rule, from the top one down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract.get("containers") == ["mauve_metric"])
    return [[name.strip() for name in re.split("[:|]", layer)] for layer in found]


CHARTS: dict[str, Callable[[], alt.TopLevelMixin]] = {
    "score": lambda: score_chart(one_model(), PHONE),
    "curves": lambda: curves_chart(one_model()),
    "gap-greedy": lambda: contributions_chart(explain(p=of_texts("human"), q=of_texts("greedy")), width=WIDTH),
    "calibration": calibration,
    "models": lambda: forest_chart(five_models(), WIDTH - 120),
    "layers": layers,
}


def draw(name: str, folder: Path = FIGURES) -> list[Path]:
    """Draw one figure for both pages."""
    spec: dict[str, Any] = CHARTS[name]().to_dict()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for page, colours in PAGES.items():
        path = folder / f"{name}-{page}.svg"
        path.write_text(vl_convert.vegalite_to_svg(coloured(spec, colours)), encoding="utf-8")
        written.append(path)
    return written


def coloured(spec: dict[str, Any], colours: dict[str, str]) -> dict[str, Any]:
    """A figure with the colours of a page, on no ground of its own."""
    text = dict.fromkeys(("labelColor", "titleColor"), colours["text"])
    config = {
        "axis": text | {"gridColor": colours["grid"], "tickColor": colours["line"], "domainColor": colours["line"]},
        "legend": text,
        "title": {"color": colours["text"], "subtitleColor": colours["text"]},
        "text": {"color": colours["text"]},
    }
    kept = spec.get("config", {})
    merged = kept | {key: kept.get(key, {}) | value for key, value in config.items()}
    merged["view"] = {"stroke": None} | kept.get("view", {})
    return dict(_replaced(spec, {GRID: colours["grid"], FILL: colours["fill"]})) | {
        "background": None,
        "config": merged,
    }


def _replaced(value: Any, colours: dict[str, str]) -> Any:
    """A specification with some colours replaced."""
    if isinstance(value, dict):
        return {key: _replaced(item, colours) for key, item in value.items()}
    if isinstance(value, list):
        return [_replaced(item, colours) for item in value]
    return colours.get(value, value) if isinstance(value, str) else value


def main(argv: Sequence[str] | None = None) -> None:
    """Draw the figures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CHARTS)}")
    given = parser.parse_args(argv)
    if unknown := [name for name in given.names if name not in CHARTS]:
        parser.error(f"no such figure: {', '.join(unknown)}")
    for name in given.names or CHARTS:
        print(*draw(name), sep="\n")


if __name__ == "__main__":
    main()
