"""Shared parts of figures: colours that can be told apart, names that stay short, one form for the page."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mauve_metric import Comparison, MauveResult, compare
from mauve_metric.hosts.space.view.text_map import map_chart
from mauve_metric.report import html_and_images
from mauve_metric.report.charts import figure, of_comparison, of_result

LONG = [f"outputs_of_the_model_of_2024-11-{day:02d}_with_temperature_{day}_final.jsonl" for day in range(8)]
# Machado, Oliveira and Fernandes 2009, severity 1: from linear RGB to what is seen
SEEN = {
    "anyone": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    rng = np.random.default_rng(5)
    models = {name: (1 - 0.05 * row) * rng.normal(size=(40, 4)) for row, name in enumerate(LONG)}
    return compare(p_features=rng.normal(size=(40, 4)), models=models, num_buckets=5, num_runs=1, buckets=1)


def linear(color: str) -> np.ndarray:
    part = np.array(list(bytes.fromhex(color[1:]))) / 255
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    part = XYZ @ np.clip(rgb, 0, 1) / XYZ.sum(axis=1)
    x, y, z = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def apart(a: str, b: str) -> float:
    """The smallest distance (CIE 1976) at which the four kinds of eyes see two colours."""
    return min(
        float(np.linalg.norm(lab(np.array(m) @ linear(a)) - lab(np.array(m) @ linear(b)))) for m in SEEN.values()
    )


def test_colours_have_one_meaning_and_differ_for_any_colour_vision() -> None:
    sides, models = (figure.TOO_MUCH, figure.MISSED), figure.COLORS
    assert len({figure.HUMAN, *sides, *models}) == 3 + len(models)
    # 2.3 is just noticed; two marks that lie apart need several times that
    assert apart(*sides) > 40
    assert min(apart(a, b) for a, b in itertools.combinations([figure.HUMAN, *models[:3]], 2)) > 15
    assert min(apart(a, b) for a, b in itertools.combinations([figure.HUMAN, *models], 2)) > 10
    assert min(apart(side, model) for side in sides for model in models) > 10


@pytest.mark.parametrize("page", ["#FFFFFF", "#27272A"])
def test_colours_stand_out_from_a_light_page_and_a_dark_one(page: str) -> None:
    def light(color: str) -> float:
        return float(XYZ[1] @ linear(color)) + 0.05

    drawn = {color: color for color in (figure.HUMAN, figure.TOO_MUCH, figure.MISSED, *figure.COLORS)}
    for color in (drawn if page == "#FFFFFF" else drawn | figure.DARK).values():
        low, high = sorted((light(color), light(page)))
        assert high / low >= 3, color  # WCAG 1.4.11
    dark = [figure.DARK.get(color, color) for color in (figure.HUMAN, *figure.COLORS)]
    assert min(apart(a, b) for a, b in itertools.combinations(dark, 2)) > 10


def test_long_names_are_shortened_and_stay_different() -> None:
    short = figure.short_labels(["gpt2", *LONG], most=30)
    assert short[0] == "gpt2" and len(set(short)) == 9 and max(map(len, short)) == 30
    alike = ["a" * 30 + middle + "b" * 30 for middle in "xy"]
    assert figure.short_labels(alike, most=9) == ["aaaaa…bbb", "aaaaa…bbb (2)"]


@pytest.fixture(scope="module")
def charts(comparison: Comparison) -> dict[str, Any]:
    """All figures as Vega-Lite has them."""
    result = comparison.models[LONG[0]]
    assert isinstance(result, MauveResult)
    rng = np.random.default_rng(0)
    rows, buckets = [rng.normal(size=(3, 2)) for _ in "ab"], [np.zeros(3, np.int64) for _ in "ab"]
    drawn = {
        "score": of_result.score_chart(result),
        "curve": of_result.divergence_curve_chart(result),
        "precision": of_result.precision_recall_chart(result),
        "histogram": of_result.histogram_chart(result),
        "gap": of_comparison.contributions_chart(comparison.explanations[LONG[0]]),
        "map": map_chart(["human", LONG[0]], rows, buckets, [["t"] * 3] * 2, (0.5, 0.2)),
        "forest": of_comparison.forest_chart(comparison),
        "curves": of_comparison.curves_chart(comparison),
        "precisions": of_comparison.precision_recall_curves_chart(comparison),
    }
    return {name: chart.to_dict() for name, chart in drawn.items()}


@pytest.mark.slow
def test_every_figure_is_described_with_its_numbers(comparison: Comparison, charts: dict[str, Any]) -> None:
    said = {name: chart["description"] for name, chart in charts.items()}
    result, best = comparison.models[LONG[0]], comparison.ranking[0]
    assert len(set(said.values())) == len(said) and all(text.endswith(".") for text in said.values())
    assert f"{result.mauve:.4f}" in said["score"] and f"{result.mauve:.4f}" in said["curve"]
    assert f"{result.prd_area:.4f}" in said["precision"] and f"{1 - result.mauve:.3f}" in said["gap"]
    assert f"{best} {comparison.models[best].mauve:.4f}" in said["curves"]
    assert f"{best} {comparison.models[best].closeness:.3f}" in said["forest"]
    assert f"{best} {comparison.models[best].prd_area:.4f}" in said["precisions"]


def test_lines_of_titles_fit_a_phone(charts: dict[str, Any]) -> None:
    for name, chart in charts.items():
        title = chart["title"]
        assert max(map(len, [title["text"], *title["subtitle"]])) <= 60, name


def colors_of(spec: dict[str, Any]) -> dict[str, str]:
    """Colour of each name in a chart."""
    scales = [
        layer["encoding"]["color"]["scale"]
        for layer in spec.get("layer", [spec])
        if "color" in layer.get("encoding", ())
    ]
    return {name: color for scale in scales for name, color in zip(scale["domain"], scale["range"], strict=True)}


def test_a_model_has_one_colour_in_all_figures_and_a_gap_has_its_own(
    comparison: Comparison, charts: dict[str, Any]
) -> None:
    wanted = dict(zip(comparison.ranking, figure.COLORS, strict=True))
    assert colors_of(charts["forest"]) == colors_of(charts["curves"]) == colors_of(charts["precisions"]) == wanted
    assert list(colors_of(charts["map"]).values()) == [figure.HUMAN, figure.COLORS[0]]
    assert set(colors_of(charts["gap"]).values()) == {figure.TOO_MUCH, figure.MISSED}
    single = json.dumps([charts[name] for name in ("score", "curve", "precision", "histogram")])
    assert figure.COLORS[0] in single and figure.HUMAN in single
    assert not any(color in single for color in (figure.TOO_MUCH, figure.MISSED, *figure.COLORS[1:]))
    third = of_result.histogram_chart(comparison.models[LONG[0]], model_index=2).to_dict()
    assert figure.COLORS[2] in json.dumps(third) and figure.COLORS[0] not in json.dumps(third)


def test_several_models_have_precision_recall_curves(comparison: Comparison, charts: dict[str, Any]) -> None:
    spec = charts["precisions"]
    data = [layer["data"] for layer in spec["layer"][1:]]
    lines, points = (part["values"] if "values" in part else spec["datasets"][part["name"]] for part in data)
    for name in comparison.ranking:
        drawn = [[row["coverage"], row["quality"]] for row in lines if row["model"] == name]
        np.testing.assert_array_equal(drawn, comparison.models[name].prd_curve)
    assert [row["quality"] for row in points] == [comparison.models[name].precision for name in comparison.ranking]


def squares(svg: str) -> Sequence[tuple[float, float]]:
    """Width and height of what the frames of plots enclose."""
    frames = re.findall(r'class="background"[^>]* d="M0[.5]*,0[.5]*h([\d.]+)v([\d.]+)', svg)
    return [(float(width), float(height)) for width, height in frames if float(width) > 1]


@pytest.mark.more
def test_saved_plots_stay_square_whatever_the_names_are(comparison: Comparison) -> None:
    first, second, *_ = squares(html_and_images.chart_svg(of_comparison.curve_charts(comparison)))
    assert first == second == (figure.SIDE, figure.SIDE)
