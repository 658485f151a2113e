"""Figures: what is drawn is what the result holds, and every file format is written whole and offline."""

from __future__ import annotations

import dataclasses
import json
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mauve_metric import MauveResult, compute_mauve
from mauve_metric.hosts.cli import main as cli
from mauve_metric.measures import frontier
from mauve_metric.report import html_and_images
from mauve_metric.report.charts import figure, of_result
from mauve_metric.uncertainty import intervals, jackknife


@pytest.fixture(scope="module")
def result() -> MauveResult:
    rng = np.random.default_rng(3)
    human, model = rng.normal(size=(120, 5)), 0.6 * rng.normal(size=(90, 5)) + 0.4
    return compute_mauve(
        p_features=human, q_features=model, num_buckets=12, mauve_scaling_factor=2.5, kmeans_num_redo=1
    )


@pytest.fixture(scope="module")
def curve(result: MauveResult) -> Any:
    return of_result.divergence_curve_chart(result)


@pytest.fixture(scope="module")
def score(result: MauveResult) -> dict[str, Any]:
    found: dict[str, Any] = of_result.score_chart(result).to_dict()
    return found


def rows_of(chart: Any, layer: int = 0) -> list[dict[str, Any]]:
    spec = chart if isinstance(chart, dict) else chart.to_dict()
    data = spec["layer"][layer].get("data", spec.get("data"))
    rows: list[dict[str, Any]] = data["values"] if "values" in data else spec["datasets"][data["name"]]
    return rows


def column(rows: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([row[name] for row in rows], dtype=float)  # None becomes nan


def test_divergence_rows_are_the_curve_with_coverage_to_the_right(result: MauveResult, curve: Any) -> None:
    rows = rows_of(curve)
    np.testing.assert_array_equal(column(rows, "quality"), result.divergence_curve[:, 0])
    np.testing.assert_array_equal(column(rows, "coverage"), result.divergence_curve[:, 1])


def test_hovered_errors_give_the_drawn_points(result: MauveResult, curve: Any) -> None:
    rows = rows_of(curve)
    assert rows[0]["lambda"] is rows[-1]["lambda"] is rows[0]["type_one"] is rows[-1]["type_two"] is None
    inner = rows[1:-1]
    # exp(-c·KL) is the point, up to rounding
    np.testing.assert_allclose(np.exp(-2.5 * column(inner, "type_one")), column(inner, "quality"), rtol=1e-12)
    np.testing.assert_allclose(np.exp(-2.5 * column(inner, "type_two")), column(inner, "coverage"), rtol=1e-12)
    mixture = inner[7]["lambda"] * result.p_hist + (1 - inner[7]["lambda"]) * result.q_hist
    model = result.q_hist > 0
    type_one = np.sum(result.q_hist[model] * np.log(result.q_hist[model] / mixture[model]))
    assert inner[7]["type_one"] == pytest.approx(type_one, rel=1e-12)


def test_precision_recall_rows_are_the_curve(result: MauveResult) -> None:
    rows = rows_of(of_result.precision_recall_chart(result))
    np.testing.assert_array_equal(column(rows, "coverage"), result.prd_curve[:, 0])
    np.testing.assert_array_equal(column(rows, "quality"), result.prd_curve[:, 1])


def test_the_points_of_the_nearest_neighbours_are_drawn_with_the_curve(result: MauveResult) -> None:
    rows = rows_of(of_result.precision_recall_chart(result), layer=4)
    assert [(row["coverage"], row["quality"]) for row in rows] == [
        (result.recall, result.precision),
        (result.coverage, min(result.density, 1)),
    ]
    assert len({row["symbol"] for row in rows}) == 2  # told apart without colour
    without = dataclasses.replace(result, precision=None, recall=None, density=None, coverage=None)
    assert len(of_result.precision_recall_chart(without).to_dict()["layer"]) == 4 + 1 + 1  # two human sets, and the key


@pytest.mark.more
def test_two_human_sets_are_drawn_with_both_curves_and_named_in_their_readings(result: MauveResult) -> None:
    divergence, precision_recall = of_result.equal_curves(result) or pytest.fail("no curves")
    # the area under the mean of 40 curves is not their mean area, but nearly: the curves differ by a few hundredths
    assert frontier.curve_area(divergence) == pytest.approx(result.mauve_ceiling, abs=0.02)
    for chart, drawn in (
        (of_result.divergence_curve_chart(result), divergence),
        (of_result.precision_recall_chart(result), precision_recall[:, ::-1]),
    ):
        grey = [layer for layer in chart.to_dict()["layer"] if layer["mark"].get("color") == figure.HUMAN]
        (line,) = (chart.to_dict()["datasets"][layer["data"]["name"]] for layer in grey)
        np.testing.assert_array_equal([[row["quality"], row["coverage"]] for row in line], drawn)
        assert "two human sets" in json.dumps(chart.to_dict()["datasets"])
    quality = np.interp(0.9, result.divergence_curve[:, 1], result.divergence_curve[:, 0])
    said = of_result.divergence_curve_reading(result)
    assert f"a quality of {quality:.2f}; two human sets of this size (grey line)" in said
    said = of_result.precision_recall_reading(result)
    assert f"(quality): {result.precision:.2f} of the model's" in said
    assert f"(diversity): {result.recall:.2f} of the human" in said


def test_nothing_is_said_of_two_human_sets_whose_prompts_are_not_known(result: MauveResult) -> None:
    unknown = dataclasses.replace(result, design="prompts", bounds=())
    assert of_result.equal_curves(unknown) is None
    assert "human sets" not in json.dumps(of_result.divergence_curve_chart(unknown).to_dict())
    assert "human sets" not in of_result.divergence_curve_reading(unknown)
    assert "human sets" not in of_result.precision_recall_reading(unknown)


def test_a_density_above_one_is_drawn_at_one_and_named(result: MauveResult) -> None:
    for density in (0.9, 1.37):
        chart = of_result.precision_recall_chart(dataclasses.replace(result, density=density))
        assert rows_of(chart, layer=4)[1]["quality"] == min(density, 1)
        spec = chart.to_dict()
        assert spec["layer"][0]["encoding"]["y"]["scale"]["domain"] == [0, 1]
        assert f"density {density:.4f}" in spec["description"]
        assert ("drawn at 1" in str(spec)) == (density > 1)


def test_the_key_names_what_is_drawn_and_no_words_lie_on_curves(result: MauveResult, curve: Any) -> None:
    for chart, names in (
        (curve, ["MAUVE", "without sampling bias", "two human sets"]),
        (
            of_result.precision_recall_chart(dataclasses.replace(result, density=0.5)),
            ["of the histograms", "k-NN precision, recall", "density, coverage", "two human sets"],
        ),
    ):
        layers = chart.to_dict()["layer"]
        assert not [layer for layer in layers if layer["mark"]["type"] == "text"]
        (key,) = (layer["encoding"] for layer in layers if "strokeDash" in layer["encoding"])
        scales = [key[name]["scale"] for name in ("stroke", "fill", "shape", "strokeDash")]
        assert all(scale["domain"] == names for scale in scales)
        drawn = [layer["mark"] for layer in layers if layer["mark"]["type"] == "line"]
        lines = {(mark.get("color"), tuple(mark.get("strokeDash", (1, 0)))) for mark in drawn}
        for color, filled, shape, dash in zip(*(scale["range"] for scale in scales), strict=True):
            assert color == filled
            assert (color, tuple(dash)) in lines if shape == "stroke" else shape in ("circle", "square")


def test_the_score_is_drawn_between_floor_and_ceiling(result: MauveResult, score: dict[str, Any]) -> None:
    chart = score
    assert chart["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    rows = {row.get("name", row["kind"]): row for row in rows_of(chart)}
    assert (rows["span"]["value"], rows["span"]["to"]) == (result.mauve_floor, result.mauve_ceiling)
    assert rows["MAUVE"]["value"] == result.mauve and rows["by groups"]["value"] == result.mauve_debiased
    marks = [row for row in rows_of(chart) if row["kind"] == "mark"]
    assert len({row["symbol"] for row in marks}) == len({row["row"] for row in marks}) == 3  # told apart without colour
    scores = ((result.mauve_debiased, result.mauve_debiased_ci), (result.mauve_classifier, result.mauve_classifier_ci))
    for (value, ci), mark in zip(scores, marks, strict=False):
        (interval,) = (row for row in rows_of(chart) if row["kind"] == "interval" and row["row"] == mark["row"])
        assert mark["value"] == value and (interval["value"], interval["to"]) == ci
    one = dataclasses.replace(
        result, n_p=1, mauve_debiased=None, mauve_debiased_stderr=None, mauve_debiased_ci=None, mauve_classifier=None
    )
    assert {row["kind"] for row in rows_of(of_result.score_chart(one))} == {"span", "end", "mark", "label"}


def test_the_score_leads_with_closeness_and_its_interval(result: MauveResult, score: dict[str, Any]) -> None:
    each = {
        "Closeness": (result.closeness, result.closeness_ci),
        "by groups": (result.mauve_debiased, result.mauve_debiased_ci),
        "by classifier": (result.mauve_classifier, result.mauve_classifier_ci),
    }
    lead, groups, learned = (
        f"{name} {value:.3f} ({low:.3f} to {high:.3f})" for name, (value, (low, high)) in each.items()
    )
    assert score["title"]["text"] == lead
    below = [f"circle: {groups}", f"square: {learned}", f"diamond: MAUVE {result.mauve:.4f}"]
    assert score["title"]["subtitle"] == below
    assert score["description"].startswith(f"{lead}. {groups}. {learned}. MAUVE {result.mauve:.4f}, between")
    one = dataclasses.replace(
        result, n_p=1, closeness=None, mauve_debiased=None, mauve_debiased_stderr=None, mauve_debiased_ci=None
    )
    assert of_result.score_chart(one).to_dict()["title"]["text"] == f"MAUVE {result.mauve:.4f}"


def test_the_band_is_drawn_around_the_debiased_curve(result: MauveResult, curve: Any) -> None:
    chart = curve.to_dict()
    outline, middle = rows_of(chart, layer=3), rows_of(chart, layer=4)
    assert len(outline) == 2 * len(middle)
    low, high = outline[: len(middle)], outline[len(middle) :][::-1]
    for name in ("coverage", "quality"):
        assert np.all(column(low, name) <= column(middle, name)) and np.all(column(middle, name) <= column(high, name))
    # MAUVE's c and level are those of the signature: the area under the middle is the debiased one of the histograms
    counts = [np.rint(share * n).astype(int) for share, n in ((result.p_hist, result.n_p), (result.q_hist, result.n_q))]
    debiased = intervals.debiased_scores(jackknife.debiased_frontier(*counts), 2.5).mauve
    points = np.r_[[[1.0, 0]], np.c_[column(middle, "quality"), column(middle, "coverage")], [[0, 1.0]]]
    area = np.sum((points[:-1, 0] - points[1:, 0]) * (points[:-1, 1] + points[1:, 1]) / 2)
    assert area == pytest.approx(debiased, abs=1e-12)
    one = dataclasses.replace(result, curve_band=None)
    assert len(of_result.divergence_curve_chart(one).to_dict()["layer"]) == len(chart["layer"]) - 2


@pytest.mark.more
def test_the_band_is_as_wide_as_samples_differ() -> None:
    # 2000 samples of fixed histograms: the standard deviation of the linear cost at each weight is known to
    # 1/√(2·2000) = 1.6 %; the mean of the band's own widths must agree to a few of these and the jackknife's O(1/n)
    rng = np.random.default_rng(0)
    p, q, n = rng.dirichlet(np.full(12, 2.0)), rng.dirichlet(np.full(12, 2.0)), 400
    c, picked = 0.5, [20, 50, 80]  # a small c, so that no divergence is cut off at 0
    lam = jackknife.WEIGHTS[picked]
    costs, widths = [], []
    for draw in range(2000):
        counts = rng.multinomial(n, p), rng.multinomial(n, q)
        type_one, type_two = frontier.frontier(counts[0] / n, counts[1] / n, lam)
        costs.append((1 - lam) * type_one + lam * type_two)
        if draw % 20 == 0:
            band = jackknife.frontier_band(jackknife.debiased_frontier(*counts), c, level=0.6826894921)  # z = 1
            down = (-np.log(band.low) + np.log(band.curve)) / c
            np.testing.assert_allclose(down[:, 0], down[:, 1], rtol=1e-9)  # both divergences move alike
            widths.append(down[picked, 0])
    np.testing.assert_allclose(np.mean(widths, axis=0), np.std(costs, axis=0), rtol=0.06)


def test_the_points_of_the_curve_can_be_hit(curve: Any) -> None:
    *_, points, targets = curve.to_dict()["layer"]
    assert targets["mark"]["size"] > 4 * points["mark"]["size"] and targets["mark"]["opacity"] == 0
    assert [item["field"] for item in targets["encoding"]["tooltip"]][:3] == ["lambda", "type_one", "type_two"]


def test_histogram_rows_are_all_buckets_from_missed_to_overfilled(result: MauveResult) -> None:
    rows = rows_of(of_result.histogram_chart(result))
    buckets = [row["bucket"] for row in rows]
    assert sorted(buckets) == list(range(result.num_buckets))
    np.testing.assert_array_equal(column(rows, "human"), result.p_hist[buckets])
    np.testing.assert_array_equal(column(rows, "model"), result.q_hist[buckets])
    np.testing.assert_array_equal(column(rows, "below"), -result.q_hist[buckets])
    assert np.all(np.diff(column(rows, "difference")) <= 0)
    low, high = of_result.histogram_chart(result).to_dict()["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert -low == high > 1.1 * max(result.p_hist.max(), result.q_hist.max())  # room for what names the two sides


def test_curves_share_axes_and_name_the_score(result: MauveResult, curve: Any) -> None:
    curves = curve.to_dict(), of_result.precision_recall_chart(result).to_dict()
    for spec, value in zip(curves, (result.mauve, result.prd_area), strict=True):
        assert f"{value:.4f}" in spec["title"]["text"]
        assert spec["width"] == spec["height"]
        x, y = (spec["layer"][0]["encoding"][axis] for axis in "xy")
        assert x["title"].endswith(figure.coverage_of("human")) and y["title"].endswith(figure.QUALITY)
        assert x["scale"]["domain"] == y["scale"]["domain"] == [0, 1]
    lines = [spec["layer"][2]["mark"] for spec in curves]
    assert lines[0]["strokeDash"] != lines[1]["strokeDash"]  # told apart without colour
    assert "12 buckets, c = 2.5" in curves[0]["title"]["subtitle"][0]
    assert f"by groups {result.mauve_debiased:.3f}" in curves[0]["title"]["subtitle"][1]


def test_a_collapsed_model_is_drawn_with_quality_and_without_coverage() -> None:
    rng = np.random.default_rng(0)
    one, other = np.array([50.0, 0, 0]), np.array([0, 50.0, 0])  # two directions: length does not count
    human = np.concatenate([rng.normal(size=(60, 3)) + one, rng.normal(size=(60, 3)) + other])
    model = rng.normal(size=(120, 3)) + one  # writes one of the two kinds only: p = (½, ½), q = (1, 0)
    collapsed = compute_mauve(p_features=human, q_features=model, num_buckets=2, kmeans_num_redo=1)
    precision_recall = rows_of(of_result.precision_recall_chart(collapsed))
    assert column(precision_recall, "quality").max() == 1
    assert column(precision_recall, "coverage").max() == 0.5
    curve = rows_of(of_result.divergence_curve_chart(collapsed))
    # λ = 1 - 1e-6: KL(q‖p) = ln 2 and c = 5 give 2⁻⁵, off by about 1e-6·c; λ = 1e-6: KL(p‖q) is about ½·ln(1e6)
    assert curve[-2]["quality"] == pytest.approx(1 / 32, rel=1e-4)
    assert curve[1]["coverage"] < 1e-10


@pytest.mark.more
def test_many_buckets_are_all_drawn(result: MauveResult) -> None:
    share = np.full(5001, 1 / 5001)  # Altair refuses more than 5000 rows of a data frame
    many = dataclasses.replace(result, p_hist=share, q_hist=share, num_buckets=5001)
    assert len(rows_of(of_result.histogram_chart(many))) == 5001


@pytest.mark.slow
def test_result_chart_has_all_four_and_is_what_plot_returns(result: MauveResult) -> None:
    spec = of_result.result_chart(result).to_dict()
    score, curves, histogram = spec["vconcat"]
    titles = [part["title"]["text"] for part in (score, *curves["hconcat"], histogram)]
    mauve = f"MAUVE = {result.mauve:.4f}"
    assert titles[0].startswith("Closeness ") and titles[1:] == [
        mauve,
        f"PRD area = {result.prd_area:.4f}",
        "Where the two sets differ",
    ]
    assert result.plot().to_dict() == spec


@pytest.mark.parametrize(
    ("ending", "start"),
    [
        (".svg", b"<svg"),
        (".pdf", b"%PDF-"),
        (".html", b"<!DOCTYPE html>"),
        (".JSON", b"{"),
    ],
)
def test_every_format_is_written(result: MauveResult, curve: Any, tmp_path: Path, ending: str, start: bytes) -> None:
    path = tmp_path / f"curve{ending}"
    html_and_images.save_chart(curve, path)
    content = path.read_bytes()
    assert content.lstrip().startswith(start)
    if ending == ".svg":
        assert b"coverage of human text" in content and f"MAUVE = {result.mauve:.4f}".encode() in content
    if ending == ".html":
        assert not re.search(rb"""(src|href)\s*=\s*["']?(https?:)?//""", content)
        assert len(content) > 300_000  # the scripts are in it
    if ending == ".JSON":
        assert json.loads(content)["$schema"].startswith("https://vega.github.io/schema/vega-lite/")


@pytest.mark.more
def test_a_picture_has_three_pixels_for_one(curve: Any, tmp_path: Path) -> None:
    html_and_images.save_chart(curve, tmp_path / "curve.png")
    content = (tmp_path / "curve.png").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])  # of the header, IHDR
    drawn = re.search(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', html_and_images.chart_svg(curve))
    assert drawn is not None
    np.testing.assert_allclose([width, height], [3 * float(drawn[1]), 3 * float(drawn[2])], atol=3)  # whole pixels


def test_unknown_ending_is_refused(curve: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'.*curve\.gif': expected a name that ends in \.png, \.svg, \.pdf"):
        html_and_images.save_chart(curve, tmp_path / "curve.gif")
    assert not list(tmp_path.iterdir())


def test_a_missing_package_is_named(curve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(ImportError, match=r"vl-convert-python: pip install 'mauve_metric\[space\]'"):
        html_and_images.save_chart(curve, tmp_path / "curve.svg")


@pytest.mark.more
def test_altair_is_imported_by_figures_alone() -> None:
    modules = (
        "mauve_metric.apps.describing.description, mauve_metric.hosts.cli.main, mauve_metric.report.html_and_images"
    )
    command = f"import sys, {modules}; assert 'altair' not in sys.modules; sys.modules['altair'] = None\n"
    command += "import mauve_metric.report.charts.of_result"
    done = subprocess.run([sys.executable, "-c", command], check=False, capture_output=True, text=True)
    assert done.returncode and "figures need Altair: pip install 'mauve_metric[space]'" in done.stderr


@pytest.mark.slow
def test_command_line_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    for name in ("human.npy", "model.npy"):
        np.save(tmp_path / name, rng.normal(size=(40, 3)))
    files = [str(tmp_path / "human.npy"), str(tmp_path / "model.npy")]
    assert cli.main(["score", *files, "--json", "--plot", str(tmp_path / "curve.svg")]) == 0
    score = json.loads(capsys.readouterr().out)["mauve"]
    assert f"MAUVE = {score:.4f}" in (tmp_path / "curve.svg").read_text(encoding="utf-8")
    with pytest.raises(SystemExit) as stopped:
        cli.main(["score", *files, "--plot", str(tmp_path / "curve.gif")])
    assert stopped.value.code == 2
    assert "expected a name that ends in .png" in capsys.readouterr().err
